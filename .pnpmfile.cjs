/** Node.js packages name their system as a text, which pnpm takes for none: it would install them all. */
const readPackage = ({ os, cpu, ...rest }) => ({
  ...rest,
  ...(os && { os: [os].flat() }),
  ...(cpu && { cpu: [cpu].flat() }),
})

module.exports = { hooks: { readPackage } }
