import { parseDocument } from 'yaml'
import { makeSourceCache, openEditing, setInDefinition, type Texts } from '../src/definition/index.ts'
import { makeProject } from '../test/definition/project.ts'
import { atMost, beside, type Figure } from './goal.ts'
import { bigRoutes } from './projects.ts'
import { scaled } from './scale.ts'
import { median, quantile } from './statistics.ts'

const edits = scaled(60, 3)
const warmUp = scaled(5)

/** Measures one edit of a definition with many routes, in a file for each and in one file. */
export async function measureEdits(): Promise<Figure[]> {
  const { one, many } = makeTexts()
  const limit = 30
  const [inOne, inMany] = [measure(one), measure(many)]
  const ofYaml = measureYaml(one.get('waypost.yml')!)
  return [
    row(`an edit of a route among ${bigRoutes}, a file for each`, inMany.warm, limit),
    row(`an edit of a route among ${bigRoutes} in one file`, inOne.warm, limit),
    beside(
      '  yaml: parse, setIn, toString; the edit beside it',
      { value: median(ofYaml), unit: 'ms' },
      median(inOne.warm) / median(ofYaml),
    ),
    beside('  the first edit, which parses the file', { value: inOne.first, unit: 'ms' }),
  ]
}

function row(what: string, times: readonly number[], limit: number): Figure {
  const figure = atMost(what, { value: median(times), unit: 'ms' }, limit)
  return { ...figure, what: `${what} (slowest ${quantile(times, 1).toFixed(0)} ms)` }
}

/** A route of about 300 characters, with references and comments. */
function writeRoute(index: number): string {
  return `scopes: [todo]
path:
  id: { type: integer }
methods:
  # reads
  GET:
    public: true
    response: { $ref: "schema:///Message" }
    action: src/many/action-${index}.ts # one
  POST:
    request: Message
    responses: { 201: Message }
    action: src/many/post-${index}.ts
`
}

function makeTexts(): { readonly one: Texts; readonly many: Texts } {
  const schema = 'schema:\n  Message: { type: object, properties: { text: { type: string } } }\n'
  const many = new Map<string, string>()
  let [included, written] = ['', '']
  for (let index = 0; index < bigRoutes; index++) {
    many.set(`resources/routes/${index}.yml`, writeRoute(index))
    included += `  /many/${index}/:id: !include resources/routes/${index}.yml\n`
    written += `  /many/${index}/:id:\n${writeRoute(index).replaceAll(/^(?=.)/gm, '    ')}`
  }
  many.set('waypost.yml', `routes:\n${included}${schema}`)
  return { many, one: new Map([['waypost.yml', `routes:\n${written}${schema}`]]) }
}

/** Sets, adds and removes by turns, each edit on the result of the one before. */
function measure(files: Texts): { readonly first: number; readonly warm: readonly number[] } {
  using project = makeProject({})
  const cache = makeSourceCache()
  let texts = new Map(files)
  const times: number[] = []
  for (let edit = 0; edit < warmUp + edits; edit++) {
    const route = `/many/${(edit * 37) % bigRoutes}/:id`
    const [keys, value] = [
      [['routes', route, 'methods', 'GET', 'timeout'], `${edit + 1}s`] as const,
      [['routes', `/new/${edit}`], { scopes: [], methods: { GET: { action: 'src/a.ts' } } }] as const,
      [['routes', route, 'methods', 'POST'], undefined] as const,
    ][edit % 3]!
    // A draft reads the texts again before each edit.
    texts = new Map([...texts].map(([file, text]) => [file, Buffer.from(text).toString()]))
    const began = performance.now()
    const changed = setInDefinition(openEditing(project.root, { texts, cache }), keys, value)
    times.push(performance.now() - began)
    for (const [file, text] of changed) {
      if (text === undefined) texts.delete(file)
      else texts.set(file, text)
    }
  }
  return { first: times[0]!, warm: times.slice(warmUp) }
}

function measureYaml(text: string): readonly number[] {
  const times: number[] = []
  for (let round = 0; round < 8; round++) {
    const began = performance.now()
    const document = parseDocument(text)
    document.setIn(['routes', `/many/${round}/:id`, 'methods', 'GET', 'timeout'], `${round}s`)
    document.toString()
    if (round > 2) times.push(performance.now() - began)
  }
  return times
}
