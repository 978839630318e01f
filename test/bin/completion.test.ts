import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { makeCompletion } from '../../bin/cli/completion.ts'

const option = { type: 'option', name: 'format', description: "The output's format", multiple: false }
const commands = [
  { id: 'migrate', summary: 'Create tables', flags: { 'dry-run': { type: 'boolean', name: 'dry-run' } } },
  { id: 'migrate:down', description: 'Revert: the last\nMore', flags: {} },
  { id: 'validate', flags: { format: { ...option, options: ['text', 'github'] } } },
  { id: 'secret', hidden: true, flags: {} },
] as unknown as Parameters<typeof makeCompletion>[1]

test('bash completes commands with colons, flags and their values', () => {
  const script = makeCompletion('bash', commands)
  const complete = (line: string) => {
    const asked = `${script}\nCOMP_LINE="$1" COMP_POINT=\${#1}; _waypost; echo "\${COMPREPLY[*]}"`
    const { stdout, stderr } = spawnSync('bash', ['-c', asked, 'bash', line], { encoding: 'utf8' })
    assert.equal(stderr, '')
    return stdout.trim()
  }
  assert.equal(complete('waypost '), 'migrate migrate:down validate')
  assert.equal(complete('waypost migrate:'), 'down') // bash replaces only what follows the colon
  assert.equal(complete('waypost migrate --d'), '--dry-run')
  assert.equal(complete('waypost validate --format '), 'text github')
  assert.equal(complete('waypost validate --format g'), 'github')
})

test('zsh and fish get descriptions, with quotes and colons escaped', () => {
  const zsh = makeCompletion('zsh', commands)
  assert.ok(zsh.includes(String.raw`'migrate\:down:Revert: the last'`), zsh)
  assert.ok(zsh.includes(String.raw`'--format:The output'\''s format'`), zsh)
  const fish = makeCompletion('fish', commands)
  assert.ok(fish.includes(String.raw`-l format -x -a 'text github' -d 'The output'\''s format'`), fish)
  assert.doesNotMatch(zsh + fish, /secret/)
})
