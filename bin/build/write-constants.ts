// Replaces modules by the constants that they export: the structure of waypost.yml, so that `validate` does not load
// TypeBox, which takes a hundred milliseconds and 370 modules, and files for browsers, so that bundles contain them.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

/** Relative to the root, without `.ts`. */
export const constantModules = [
  'src/definition/language',
  'src/definition/migration-language',
  'src/definition/schema-language',
  'src/definition/settings-language',
  'src/auth/authorize/pages/style',
]

/**
 * @param root the folder of the sources
 * @param fresh the folder of the compiled modules
 */
export async function writeConstants(root: string, fresh: string): Promise<void> {
  for (const name of constantModules) {
    const source = pathToFileURL(path.join(root, `${name}.ts`)).href
    const exported = Object.entries((await import(source)) as Record<string, unknown>)
    const lines = exported.map(([key, value]) => `export const ${key} = ${JSON.stringify(value)};\n`)
    writeFileSync(path.join(fresh, `${name}.js`), lines.join(''))
  }
}
