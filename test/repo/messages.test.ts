// Messages of databases are in the language of the server, and those of Node and drivers change with versions. So no
// decision reads one: errors have codes.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

const patterns = [
  // `message.includes(…)`, `(error as Error).message === '…'`
  String.raw`\bmessage(?:\?|\([^()]*\))?\??\.(?:includes|startsWith|endsWith|match|search|indexOf)\(`,
  String.raw`\bmessageOf\([^()]*\)\.(?:includes|startsWith|endsWith|match|search|indexOf)\(`,
  String.raw`\.(?:test|exec)\((?:\w+\.)*(?:message|detail|messageOf\([^()]*\))\b`,
  String.raw`(?<!typeof )(?:\b[eE]rror(?: as [\w. ]+)?\)?|cause)\??\.message [!=]==`,
].map((pattern) => new RegExp(pattern))

/** What reads a message on purpose, and why. */
const allowed: readonly (readonly [file: string, part: string, reason: string])[] = [
  [
    'src/kit/conflict.ts',
    'constraint failed: ',
    'the code decides; SQLite names columns only in its message, which is never translated',
  ],
  ['src/kit/conflict.ts', '.exec(detail)', 'the code decides; the pattern has no words'],
  ['src/definition/parse-source.ts', 'at position', 'only the line of a syntax error'],
  ['src/definition/edit/source-tree.ts', 'at position', 'only the line of a syntax error'],
  ['plugins/redis/src/open-redis.ts', 'NOSCRIPT', 'the code of an error of Redis is the first word of its message'],
  ['src/server/serve/follow-activations.ts', '!message.includes(name)', 'its own message; only how it is written'],
  ['bin/cli/report-error.ts', 'error.message.includes(message)', 'only leaves out what was said'],
  ['plugins/redis/src/open-redis.ts', "error.message === ''", 'only whether there is one'],
  ['src/build/check-messages.ts', '.exec(message.text)', 'esbuild has no codes; only how its problem is written'],
  ['src/testing/connection-checks.ts', 'schema that is not valid', 'its own message'],
  [
    'src/store/migrate/apply-migrations.ts',
    'notImplementedSuffix',
    'its own message, in code that migrate:create wrote',
  ],
]

function findComparisons(source: string): readonly string[] {
  return source.split('\n').filter((line) => patterns.some((pattern) => pattern.test(line)))
}

test('no decision reads the text of a message', () => {
  const files = globSync(['{src,bin,commands}/**/*.ts', 'plugins/{sql,http,redis}/src/**/*.ts'])
  assert.ok(files.length > 500)
  const found = files.flatMap((file) =>
    findComparisons(readFileSync(file, 'utf8')).map((line) => [file, line.trim()] as const),
  )
  const isAllowed = ([file, line]: readonly [string, string]) =>
    allowed.some(([at, part]) => at === file.replaceAll('\\', '/') && line.includes(part))
  assert.deepEqual(
    found.filter((one) => !isAllowed(one)),
    [],
  )
  const unused = allowed.filter(([at, part]) => !found.some(([file, line]) => file === at && line.includes(part)))
  assert.deepEqual(unused, [])
})

test('each kind of comparison is found', () => {
  for (const line of [
    "code === '57014' && message?.includes('statement timeout')",
    'if (error.message === queryTimedOut) return',
    'this.#isStuck ||= (error as Error).message === queryTimedOut',
    '/cached plan/.test(error.message)',
    "messageOf(error).startsWith('no such table')",
  ])
    assert.deepEqual(findComparisons(line), [line])
})
