import { readFileSync } from 'node:fs'

/**
 * The styles of all pages. The build replaces this module by its value, see bin/build/write-constants.ts.
 */
export const style = readFileSync(new URL('pages.css', import.meta.url), 'utf8')
