import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { parseSync } from '@swc/core'

const root = path.join(import.meta.dirname, '../..')

/** Phrases that are hard to read, each with an example and its replacement. */
const phrases: readonly { readonly phrase: RegExp; readonly before: string; readonly after: string }[] = [
  { phrase: /\bstands?\b/i, before: 'The key "a" stands twice', after: 'Duplicate key "a"' },
  {
    phrase: /\b(nobody|somebody|everybody|whoever)\b/i,
    before: 'Nobody has this scope',
    after: 'No user has this scope',
  },
  {
    phrase: /(?<!\bthere )\b(is|are) no (?!longer\b|more\b)\w+/i,
    before: '"x" is no port',
    after: '"x" is not a valid port',
  },
  { phrase: /\bgo(es)? on\b/i, before: 'Its tokens go on', after: 'Its tokens stay valid' },
  { phrase: /\bg(ive|ives|ave|iven) (it |\w+ )?up\b/i, before: 'A worker gives it up', after: 'A worker releases it' },
  { phrase: /\bmend(s|ed)?\b/i, before: 'Mend what is listed above', after: 'Fix the problems above' },
  { phrase: /\bwhat (is|was) over\b/i, before: 'what was over is deleted', after: 'deleted expired data' },
  { phrase: /\b(come|comes|came) up\b/i, before: 'The release does not come up', after: 'The release failed to start' },
  { phrase: /\b(bring|brings|brought) up\b/i, before: 'brings up a release', after: 'starts a release' },
  { phrase: /\b(take|takes|took|taken) back\b/i, before: 'It is taken back', after: 'It is reverted' },
  { phrase: /(?<!--)\banswers? (with )?[1-5]\d\d\b/i, before: 'The route answers 404', after: 'The route returns 404' },
  {
    phrase: /\bstays? served\b|\blast state without\b/i,
    before: 'The last state without errors stays served',
    after: 'The last valid version is still served',
  },
  // One word for each concept: see docs/glossary.md.
  {
    phrase: /\b(cron|scheduled)[ -]jobs?\b/i,
    before: 'A cron job runs each night',
    after: 'A cronjob runs each night',
  },
  {
    phrase: /\b(OAuth2?|client|registered) (apps?|applications?)\b/i,
    before: 'The OAuth application has no scope',
    after: 'The client has no scope',
  },
  { phrase: /\bdelete: (refuse|forbid)/i, before: 'delete: refuse', after: 'delete: restrict' },
]

const sources = ['bin/cli/**/*.ts', 'commands/**/*.ts', 'plugins/*/src/**/*.ts', 'src/**/*.{ts,tsx}']
const pages = ['*.md', 'docs/**/*.md', 'templates/**/*.{md,yml,service,timer,target}', 'templates/*/.env.example']

test('messages and help contain no phrase of the list', () => {
  const found = globSync(sources, { cwd: root }).flatMap((file) => {
    const source = readFileSync(path.join(root, file), 'utf8')
    // Parsing takes long, and most files contain no phrase, not even in their comments.
    const texts = findPhrases(source).length === 0 ? [] : textsIn(source, file.endsWith('x'))
    return texts.flatMap(findPhrases).map((found) => `${file}: ${found}`)
  })
  const { oclif } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
  const topics = Object.values<{ description: string }>(oclif.topics).flatMap(({ description }) =>
    findPhrases(description),
  )
  assert.deepEqual([...found, ...topics], [])
})

test('pages contain no phrase of the list outside of code', () => {
  const found = globSync(pages, { cwd: root }).flatMap((file) => {
    const text = readFileSync(path.join(root, file), 'utf8').replaceAll(/^```[^]*?^```$|`[^`\n]*`/gm, '')
    return text
      .split(/\n\n+/)
      .flatMap((part) => findPhrases(part.replaceAll(/\s+/g, ' ')).map((one) => `${file}: ${one}`))
  })
  assert.deepEqual(found, [])
})

test('each listed phrase is found where it is planted, and not in its replacement', () => {
  for (const { before, after } of phrases) {
    const planted = `// ${after}\nthrow new Error(${JSON.stringify(before)})\nexport const hint = \`\${name}: ${before}\``
    assert.equal(textsIn(planted).flatMap(findPhrases).length, 2, before)
    assert.deepEqual(findPhrases(after), [])
  }
  assert.deepEqual(['There is no user "ann"', 'It is no longer valid'].flatMap(findPhrases), [])
})

function findPhrases(text: string): string[] {
  return phrases.flatMap(({ phrase, after }) => {
    const found = phrase.exec(text)
    return found === null ? [] : [`"${found[0]}" in "${text.slice(0, 100)}"; as in: ${after}`]
  })
}

/** Returns the strings and templates of a module that have more than one word, without comments. */
function textsIn(source: string, tsx = false): string[] {
  const texts: string[] = []
  visit(parseSync(source, { syntax: 'typescript', tsx }), texts)
  return texts.filter((text) => /\S \S/.test(text.trim()))
}

type Syntax = { readonly type?: string; readonly [key: string]: unknown }

function visit(node: unknown, texts: string[]): void {
  if (typeof node !== 'object' || node === null) return
  const { type, value, quasis } = node as Syntax
  if (type === 'StringLiteral' || type === 'JSXText') texts.push(value as string)
  if (type === 'TemplateLiteral' && Array.isArray(quasis)) texts.push(quasis.map(({ raw }) => raw).join('…'))
  for (const child of Object.values(node)) visit(child, texts)
}
