// Writes the structure of waypost.yml as data, so that `validate` does not load TypeBox, which takes a hundred
// milliseconds and 370 modules.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const modules = ['language', 'schema-language', 'settings-language']

/** @param fresh the folder of the new build */
export async function writeLanguage(fresh: string): Promise<void> {
  for (const name of modules) {
    const file = path.join(fresh, 'src/definition', `${name}.js`)
    const exported = Object.entries((await import(pathToFileURL(file).href)) as Record<string, unknown>)
    const lines = exported.map(([key, value]) => `export const ${key} = ${JSON.stringify(value)};\n`)
    writeFileSync(file, lines.join(''))
  }
}
