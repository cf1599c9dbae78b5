declare global {
  interface BigInt {
    toJSON(): unknown
  }
  interface JSON {
    rawJSON(text: string): unknown
  }
}

BigInt.prototype.toJSON = function () {
  return JSON.rawJSON(this.toString())
}

export {}
