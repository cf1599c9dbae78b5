import { type ConfigCode, PlantStoreError } from './plant-store-error.ts'

/**
 * An option cannot work, or the token function failed; nothing was sent with it.
 * The message never holds the option's value.
 */
export class PlantStoreConfigError extends PlantStoreError {
  override name = 'PlantStoreConfigError'
  declare readonly code: ConfigCode
  /** The name of the option. */
  readonly option: string

  constructor(code: ConfigCode, option: string, rule: string) {
    super(`${option} ${rule}`, code)
    this.option = option
  }
}
