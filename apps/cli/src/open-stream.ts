import { constants, createReadStream, fstatSync, openSync } from 'node:fs'
import { Socket } from 'node:net'

/**
 * What a file holds, or a pipe; the open of a pipe waits for nobody who writes to it.
 * @throws the error of open(2); that of a folder comes with the first read.
 */
export function openStream(path: string) {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const stats = fstatSync(fd)
  const isPipe = stats.isFIFO()
  return {
    stats,
    stream: isPipe ? new Socket({ fd, readable: true }) : createReadStream(path, { fd }),
  }
}
