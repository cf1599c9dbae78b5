/** The version of this package, as package.json has it; sent in the User-Agent. */
export const VERSION = '1.0.0'
