import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { checkout } from './cli.ts'

/**
 * The YAML, TypeScript and tables of a template, by path. Without its `config:`, so that tests can add theirs, and the
 * comments for editors of included files, so that line numbers do not depend on them.
 */
export function readTemplate(name: 'todo' | 'empty' | 'crud'): Record<string, string> {
  const cwd = path.join(checkout, 'templates', name)
  const files = globSync(['**/*.{yml,ts}', '**/tables.json'], { cwd })
  const comment = /^# yaml-language-server: .*\n/
  const read = (file: string) => {
    const text = readFileSync(path.join(cwd, file), 'utf8')
    return file === 'waypost.yml' ? text.replace(/^config: .*\n/m, '') : text.replace(comment, '')
  }
  return Object.fromEntries(files.map((file) => [file, read(file)]))
}
