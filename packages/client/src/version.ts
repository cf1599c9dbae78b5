/** The version of this package, as package.json has it; sent in the User-Agent. */
export const VERSION = '0.0.0'
