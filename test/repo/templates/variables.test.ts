import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, it } from 'node:test'
import { parseEnv } from 'node:util'
import { releaseLimits } from '../../../src/backend/deploy/limits.ts'
import { defaultSettings } from '../../../src/kit/index.ts'
import { parts, readPart } from './part.ts'

const root = path.join(import.meta.dirname, '../../..')

function readPages(): string {
  return ['operations', 'deploying'].map((page) => readFileSync(path.join(root, `docs/${page}.md`), 'utf8')).join('\n')
}

describe('every variable', () => {
  /** The first column of tables in the pages for operators and pipelines. */
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

describe('a file of variables', () => {
  const read = (file: string) => readFileSync(path.join(root, file), 'utf8')
  const page = /^### Variables in a file\n.*?^```sh\n(.*?)^```/ms.exec(read('docs/operations.md'))?.[1] ?? ''
  const files: readonly (readonly [name: string, text: string])[] = [
    ['docs/operations.md', page],
    ...globSync('templates/*/.env.example', { cwd: root }).map((file) => [file, read(file)] as const),
  ]
  const skip = process.platform === 'win32' && 'needs sh'

  for (const [name, text] of files) {
    it(`of ${name} means the same to sh as to .env`, { skip }, async () => {
      const expected = parseEnv(text)
      assert.ok(Object.keys(expected).length >= 3)
      const folder = await mkdtemp(path.join(tmpdir(), 'waypost-variables-'))
      try {
        const file = path.join(folder, 'waypost.env')
        await writeFile(file, text)
        const { stdout, stderr } = spawnSync('sh', ['-c', `set -a; . "$1"; exec env -0`, 'sh', file], {
          encoding: 'utf8',
          env: { PATH: process.env['PATH'] },
        })
        assert.equal(stderr, '')
        const found = Object.fromEntries(stdout.split('\0').map((line) => line.split(/=(.*)/s, 2)))
        for (const [key, value] of Object.entries(expected)) assert.equal(found[key], value, key)
      } finally {
        await rm(folder, { recursive: true })
      }
    })
  }

  it('is shown with an address that has an ampersand', () => {
    assert.match(parseEnv(page)['WAYPOST_SYSTEM_URL'] ?? '', /sslmode=verify-full&sslrootcert=\/\S+$/)
  })

  it('has no value that sh would split, in any page or template', () => {
    const pages = globSync(['docs/**/*.md', 'templates/**/*.{md,example,yml}', 'templates/**/.env.example'], {
      cwd: root,
    })
    const split = pages.flatMap((file) =>
      [...read(file).matchAll(/^[#\s]*[A-Z_]+=[^'"\s]*&.*/gm)].map(([line]) => line),
    )
    assert.deepEqual(split, [])
  })
})

describe('the sample of nginx', () => {
  const page = readFileSync(path.join(root, 'docs/operations.md'), 'utf8')
  const sample = /```nginx\n(.*?)```/s.exec(page)?.[1] ?? ''
  /** Returns nginx's size limit in bytes. */
  const bytesOf = (text = '') => Number(/^client_max_body_size (\d+)m;/.exec(text)?.[1]) * 1024 * 1024

  it('accepts the sizes that Waypost accepts: body_limit everywhere, and artifacts where they are uploaded', () => {
    const [server, release] = sample.match(/client_max_body_size .*/g) ?? []
    assert.match(sample, /^  client_max_body_size/m, 'for all locations')
    assert.equal(bytesOf(server), defaultSettings.body_limit)
    assert.match(sample, /location \/backend\/deploy \{[^}]*client_max_body_size/)
    assert.ok(bytesOf(release) >= releaseLimits.uploadBytes)
  })
})
