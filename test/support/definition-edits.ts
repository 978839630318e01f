import assert from 'node:assert/strict'
import {
  editDefinition,
  EditRefused,
  findValue,
  openEditing,
  type Texts,
  type Writable,
} from '../../src/definition/index.ts'
import { fc } from './property.ts'

/** The files of a definition, by path. */
export type Files = Readonly<Record<string, string>>

export type KeysEdit = readonly [keys: readonly string[], value: Writable | undefined]

export const toTexts = (files: Files): Texts => new Map(Object.entries(files))

/** The whole definition, empty without a `waypost.yml`. */
export const valueOf = (texts: Texts) => findValue(openWith(texts), [])

function openWith(texts: Texts) {
  return openEditing(undefined, { texts: texts.has('waypost.yml') ? texts : new Map([...texts, ['waypost.yml', '']]) })
}

/** All of a definition in one file. */
export function toOneFile(files: Files): Files {
  return { 'waypost.yml': `# one file\n${JSON.stringify(valueOf(toTexts(files)), undefined, 2)}\n` }
}

const places: readonly (readonly string[])[] = [
  ['routes', '/todo', 'methods', 'GET', 'action'],
  ['routes', '/todo', 'methods', 'POST', 'scopes'],
  ['routes', '/todo', 'methods', 'DELETE'],
  ['routes', '/todo', 'scopes'],
  ['routes', '/todo'],
  ['routes', '/other'],
  ['routes', '/other', 'scopes'],
  ['schema', 'Todo', 'properties'],
  ['schema', 'Todo', 'properties', 'id'],
  ['schema', 'Todo', 'properties', 'new'],
  ['schema', 'Todo', 'description'],
  ['schema', 'Other'],
  ['schema'],
  ['event', 'made', 'scopes'],
  ['event', 'gone'],
  ['config', 'title'],
]
const values = fc.constantFrom<Writable | undefined>(
  undefined,
  'a',
  ['x', 'y'],
  { methods: { GET: { public: true } } },
  { type: 'object', properties: { b: { type: 'string' }, a: { type: 'integer' } } },
  { b: { type: 'string' }, id: { type: 'integer' } },
)

/** Random edits of a definition with to-dos. */
export const anyEdits = (maxLength: number) => fc.array(fc.tuple(fc.constantFrom(...places), values), { maxLength })

/** Returns texts with changed files; undefined deletes a file. */
export function applyFiles(texts: Texts, changes: ReadonlyMap<string, string | undefined>): Texts {
  const files = new Map(texts)
  for (const [file, text] of changes) {
    if (text === undefined) files.delete(file)
    else files.set(file, text)
  }
  return files
}

/** Makes those edits that the definition allows. */
export function makeEdits(texts: Texts, edits: readonly KeysEdit[]): Texts {
  return edits.reduce((files, [keys, value]) => {
    try {
      return applyFiles(files, editDefinition(openWith(files), [{ keys, value }]))
    } catch (error) {
      assert.ok(error instanceof EditRefused)
      return files
    }
  }, texts)
}
