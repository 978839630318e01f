import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'

const root = path.join(import.meta.dirname, '../..')

/** Files with the rule that must be reported; null if none. */
const planted: Readonly<Record<string, { readonly content: string; readonly rule: string | null }>> = {
  'src/store/print.ts': { content: `console.log('stored')`, rule: 'eslint(no-console)' },
  'commands/print.ts': { content: `export default class Print { run() { console.log('printed') } }`, rule: null },
  'src/store/url.ts': { content: `export const url = process.env['URL']`, rule: 'node(no-process-env)' },
  'src/kit/environment.ts': { content: `export const variables = process.env`, rule: null },
  'src/store/orm.ts': { content: `export default 1`, rule: 'import(no-default-export)' },
  'src/kit/a.ts': {
    content: `import type { B } from './b.ts'\nexport interface A { readonly b?: B }`,
    rule: 'import(no-cycle)',
  },
  'src/kit/b.ts': {
    content: `import type { A } from './a.ts'\nexport interface B { readonly a?: A }`,
    rule: 'import(no-cycle)',
  },
  'src/kit/any.ts': { content: `export const thing: any = 1`, rule: 'typescript(no-explicit-any)' },
  'src/events/forget.ts': {
    content: `export function deliver() { send() }\nasync function send() { await Promise.resolve() }`,
    rule: 'typescript(no-floating-promises)',
  },
  'test/kit/clock.test.ts': { content: `import { test } from 'node:test'\ntest('ticks', () => undefined)`, rule: null },
  'src/kit/long.ts': { content: `export const one = 1\n${'//\n'.repeat(400)}`, rule: 'eslint(max-lines)' },
  'src/kit/wide.ts': {
    content: `export const sum = (a: number, b: number, c: number, d: number, e: number) => a + b + c + d + e`,
    rule: 'eslint(max-params)',
  },
  'src/backend/ui/pages/long.tsx': {
    content: `export function long() {\n${'  // a line of a component\n'.repeat(119)}}`,
    rule: 'eslint(max-lines-per-function)',
  },
  'src/kit/camelCase.ts': { content: `export const one = 1`, rule: 'unicorn(filename-case)' },
}

test('every planted violation is reported, and no others', (t) => {
  const seen = lint(makeTree(t))
  for (const [file, { rule }] of Object.entries(planted)) {
    assert.deepEqual(seen.get(file) ?? [], rule === null ? [] : [rule], file)
  }
})

function makeTree(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'waypost-lint-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const file of ['.oxlintrc.json', 'tsconfig.json']) cpSync(path.join(root, file), path.join(folder, file))
  mkdirSync(path.join(folder, 'node_modules'))
  for (const name of ['@types', 'oxlint-tsgolint', '@oxlint-tsgolint']) {
    symlinkSync(path.join(root, 'node_modules', name), path.join(folder, 'node_modules', name))
  }
  for (const [file, { content }] of Object.entries(planted)) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
    writeFileSync(path.join(folder, file), content)
  }
  return folder
}

/** Returns the reported rules by file. */
function lint(folder: string): Map<string, string[]> {
  const folders = ['commands', 'src', 'test']
  const { stdout, stderr } = spawnSync(path.join(root, 'node_modules/.bin/oxlint'), ['--format', 'json', ...folders], {
    cwd: folder,
    encoding: 'utf8',
  })
  assert.equal(stderr, '')
  const { diagnostics }: { diagnostics: readonly { filename: string; code: string }[] } = JSON.parse(stdout)
  const rules = new Map<string, string[]>()
  for (const { filename, code } of diagnostics) rules.set(filename, [...(rules.get(filename) ?? []), code])
  return rules
}
