declare global {
  interface BigInt {
    toJSON(): unknown
  }
  interface JSON {
    rawJSON(text: string): unknown
  }
}

if (typeof JSON.rawJSON !== 'function') throw new Error('exact ids need Node.js 22 or later')

BigInt.prototype.toJSON = function () {
  return JSON.rawJSON(this.toString())
}

export {}
