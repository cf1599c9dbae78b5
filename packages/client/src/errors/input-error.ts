import { PlantStoreError, type PlantStoreIssue } from './plant-store-error.ts'

/** The plant is not one; nothing was sent. */
export class PlantStoreInputError extends PlantStoreError {
  override name = 'PlantStoreInputError'
  declare readonly code: 'invalid_plant'
  /** Where and why. */
  readonly issues: readonly PlantStoreIssue[]

  constructor(message: string, issues: readonly PlantStoreIssue[]) {
    super(message, 'invalid_plant')
    this.issues = issues
  }
}
