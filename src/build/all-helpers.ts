/** A module as a specifier. */
function inPlace(code: string): string {
  return JSON.stringify(`data:text/javascript,${encodeURIComponent(code)}`)
}

const names = inPlace("export * from 'node:path'\nexport const one = 1\nexport default 2")
const required = inPlace(`exports.names = require(${names})`)

/**
 * Code that needs every helper that esbuild knows for modules. Bundled beside others, it makes the chunk of helpers the same
 * whatever those are, and with it every chunk that imports it: of packages, above all, which must not be loaded again because
 * of an edit elsewhere.
 */
export const allHelpers: string = `
  import * as names from ${names}
  import required from ${required}
  export default [function named() {}, (name) => names[name], required, (name) => require(name)]
`
