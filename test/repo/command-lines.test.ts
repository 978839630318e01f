// The built command line accepts the commands in pages and templates.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { commandsIn, findWrongUse, loadCommands } from '../support/command-lines.ts'

const root = path.join(import.meta.dirname, '../..')
const commands = loadCommands()
const topics = new Set(Object.keys(commands).map((id) => id.split(':')[0] ?? ''))

/** The pages of Waypost and those that `init` writes. */
const pages = globSync(['README.md', 'docs/*.md', 'templates/**/*.md'], { cwd: root })
const scripts = globSync(
  ['templates/**/*.{yml,service,timer,target}', 'templates/**/Dockerfile', 'templates/*/.env.example'],
  { cwd: root },
).concat(globSync('templates/with/*/__*/**/*.yml', { cwd: root }))

test('each command in a code block of a page is valid', () => {
  const wrong = pages.flatMap((page) =>
    blocksIn(readFileSync(path.join(root, page), 'utf8'))
      .flatMap(commandsIn)
      .flatMap((words) => findWrongUse(commands, words, 'whole') ?? [])
      .map((problem) => `${page}: ${problem}`),
  )
  assert.deepEqual(wrong, [])
})

test('every command in a sentence of a page, and each of its flags, exists', () => {
  const wrong = pages.flatMap((page) =>
    spansIn(readFileSync(path.join(root, page), 'utf8'))
      .flatMap(commandsIn)
      .flatMap((words) => findWrongUse(commands, words, 'mentioned') ?? [])
      .filter((problem) => !(page === 'templates/plugin/README.md' && problem.includes('"my-plugin:'))) // its own
      .map((problem) => `${page}: ${problem}`),
  )
  assert.deepEqual(wrong, [])
})

test('each command in a template is valid', () => {
  assert.ok(scripts.length > 15)
  const wrong = scripts.flatMap((file) =>
    commandsIn(
      readFileSync(path.join(root, file), 'utf8')
        .replaceAll(/^#( |$)/gm, '')
        .replaceAll('$CONFIRM', '--yes'),
    )
      .flatMap((words) => findWrongUse(commands, words, 'whole') ?? [])
      .map((problem) => `${file}: ${problem}`),
  )
  assert.deepEqual(wrong, [])
})

const mistakes: Readonly<Record<string, string | undefined>> = {
  'npx waypost deploy --yes && npx waypost sreve': 'no command "sreve"',
  'npx waypost serve --prot 80': 'serve has no flag --prot',
  'npx waypost migrate now': 'migrate takes no argument "now"',
  'npx waypost event:execute --time-limit': 'event:execute --time-limit has no value',
  'waypost user:add --scopes todo': 'user:add lacks an argument',
  'node node_modules/waypost/bin/run.js client:add shop': 'client:add lacks --user',
  '* * * * * cd /srv/todo && npx waypost event:execute --watch --time-limit 55s': undefined,
  'npx waypost deploy --yes ${ACTIVE:+--against "$ACTIVE"} --message "a b"   # why': undefined,
}

test('unknown commands, wrong flags and missing arguments are found', () => {
  const found = Object.keys(mistakes).map((line) =>
    commandsIn(line)
      .map((words) => findWrongUse(commands, words, 'whole'))
      .find((problem) => problem !== undefined),
  )
  assert.deepEqual(found, Object.values(mistakes))
})

const shells = new Set(['', 'sh', 'bash', 'text', 'crontab', 'ini'])

/** Returns fenced and indented blocks for a shell, cron or systemd. */
function blocksIn(page: string): string[] {
  const fenced = [...page.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].flatMap(([, language = '', text = '']) =>
    shells.has(language) ? [text] : [],
  )
  const others = page.replaceAll(/^```[^]*?^```$/gm, '')
  return [...fenced, ...[...others.matchAll(/(?:^ {4}.*\n)+/gm)].map(([text]) => text)]
}

/** Returns code in sentences and tables. */
function spansIn(page: string): string[] {
  const spans = [...page.replaceAll(/^```[^]*?^```$/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, text = '']) => text)
  return spans.map((text) => (isCommand(text) ? `waypost ${text}` : text))
}

/** `key:rotate` without a preceding `waypost`. */
function isCommand(text: string): boolean {
  const [topic, name] = text.split(':')
  return name !== undefined && /^[a-z]/.test(name) && topics.has(topic ?? '')
}
