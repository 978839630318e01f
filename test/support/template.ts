import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { checkout } from './cli.ts'

/** The YAML, TypeScript and tables of a template, by path. Without its `config:`, so that tests can add theirs. */
export function readTemplate(name: 'todo' | 'empty' | 'crud'): Record<string, string> {
  const cwd = path.join(checkout, 'templates', name)
  const files = globSync(['**/*.{yml,ts}', '**/tables.json'], { cwd })
  const read = (file: string) => readFileSync(path.join(cwd, file), 'utf8').replace(/^config: .*\n/m, '')
  return Object.fromEntries(files.map((file) => [file, read(file)]))
}
