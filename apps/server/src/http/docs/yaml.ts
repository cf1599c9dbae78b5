// In a module of its own, because a bundle has the names of a CommonJS package only where they are
// imported by name.
export { stringify } from 'yaml'
