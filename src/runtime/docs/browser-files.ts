import { readFileSync } from 'node:fs'

// The build replaces this module by its values, see bin/build/write-constants.ts.

/** The script of /docs. */
export const pageScript = read('page.js')

/** The styles of /docs. */
export const pageCss = read('page.css')

function read(name: string): string {
  return readFileSync(new URL(`browser/${name}`, import.meta.url), 'utf8')
}
