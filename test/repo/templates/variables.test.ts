import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { parts, readPart } from './part.ts'

const root = path.join(import.meta.dirname, '../../..')

function readPages(): string {
  return ['operations', 'deploying'].map((page) => readFileSync(path.join(root, `docs/${page}.md`), 'utf8')).join('\n')
}

describe('every variable', () => {
  /** The first column of a table of the pages for who operates servers and who deploys. */
  const documented = new Set(
    [...readPages().matchAll(/^\| (`[A-Z_`, ]+`) \|/gm)].flatMap(([, names = '']) => names.match(/[A-Z_]+/g) ?? []),
  )

  it('that a server reads is in a table of the pages', () => {
    const sources = globSync(['src/{host,jobs,operate,server}/**/*.ts', 'src/kit/*.ts'], { cwd: root })
    const names = sources.flatMap((file) =>
      [
        ...readFileSync(path.join(root, file), 'utf8').matchAll(
          /variables?(?:\.variables)?(?:, |\[)'([A-Z][A-Z_]+)'|readDuration\(variables, '([A-Z_]+)'/g,
        ),
      ].map(([, one, other]) => one ?? other ?? ''),
    )
    assert.ok(names.length > 8)
    assert.deepEqual(
      [...new Set(names)].filter((name) => !documented.has(name) && !name.endsWith('_')),
      [],
    )
  })

  it('of a template is in one, or is said to be set where it is used', () => {
    const files = globSync(['**/*.{yml,md,service,env}', '*/__*/**/*.yml', '../host/.env.example'], { cwd: parts })
    const unknown = files.flatMap((file) => {
      const text = readPart(file)
      const said = new Set(
        text
          .match(/^#.*/gm)
          ?.join('\n')
          .match(/[A-Z_]{4,}/g),
      )
      return [...new Set(text.match(/\bWAYPOST_\w+|\bOPS_\w+/g))].filter(
        (name) => !documented.has(name) && !said.has(name),
      )
    })
    assert.deepEqual(unknown, [])
  })
})
