/** A module as a specifier. */
function inPlace(code: string): string {
  return JSON.stringify(`data:text/javascript,${encodeURIComponent(code)}`)
}

const required = inPlace(
  `exports.a = require(${inPlace('export const one = 1')})
  exports.b = require(${inPlace("export * from 'node:fs'\nexport const two = 2")})`,
)

/**
 * Code that needs every helper that esbuild knows for modules. Bundled beside others, it makes the chunk of helpers the same
 * whatever those are, and with it every chunk that imports it: of packages, above all, which must not be loaded again because
 * of an edit elsewhere.
 */
export const allHelpers: string = `
  import * as names from ${inPlace('export const one = 1\nexport default 2')}
  import * as more from ${inPlace("export * from 'node:path'\nexport const two = 2")}
  import required from ${required}
  export default [function named() {}, (name) => [names[name], more[name]], required, (name) => require(name)]
`
