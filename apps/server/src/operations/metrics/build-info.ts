import { Gauge, type Registry } from '@prometheus-io/client'
import { build } from '../../process/build.ts'

export function addBuildInfo(registers: Registry[]): void {
  new Gauge({
    name: 'plant_store_build_info',
    help: '1, with the versions of the server and of Node.js as labels.',
    labelNames: ['version', 'node'],
    registers,
  }).set(build, 1)
}
