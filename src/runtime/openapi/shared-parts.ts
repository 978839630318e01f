import type { JsonSchema } from '../../contract/index.ts'
import type { Components } from './components.ts'
import { findProblem, makeProblemContent, problemSchema, problemType } from './problem-responses.ts'

/** Parts that many operations refer to, so that the document stays small. Only those that are used become components. */
export interface SharedParts {
  /** Returns a `$ref` to a header of requests. */
  parameter(name: string, need: 'optional' | 'required'): object
  /** Returns the headers of a response, each a `$ref`, by name. */
  headers(names: readonly string[]): Readonly<Record<string, object>>
  /** Returns a `$ref` to the response of one of Waypost's own errors. */
  problemResponse(status: string): object
  /** Returns the content of a response that is an error. */
  problemContent(): Readonly<Record<string, object>>
  /** Returns the components that were referred to. */
  write(): Readonly<Record<'parameters' | 'headers' | 'responses', Readonly<Record<string, object>>>>
}

interface KnownHeader {
  readonly name: string
  readonly description: string
  readonly schema?: JsonSchema
}

const text = { type: 'string' } as const

const requestHeaders: readonly KnownHeader[] = [
  {
    name: 'If-Match',
    description:
      'The ETag of the version that may be changed, or several. If the resource has another version, the response is 412.',
  },
  {
    name: 'If-None-Match',
    description: 'ETags. If the resource has one of them, GET returns 304, and changes return 412.',
  },
  { name: 'Last-Event-ID', description: 'The id of the last event that was received. The stream continues after it.' },
  {
    name: 'Range',
    description:
      'The part of the file to send, for example bytes=0-1023. A response that is not a file, such as a stream, is always complete.',
  },
]

const responseHeaders: readonly KnownHeader[] = [
  { name: 'Accept-Encoding', description: 'The accepted encodings of a body, if the encoding was the problem' },
  { name: 'Cache-Control', description: 'How long, and by whom, the response may be cached (RFC 9111)' },
  { name: 'Content-Range', description: 'The part of the file, and its size (RFC 9110)' },
  { name: 'ETag', description: 'The version of the resource, for If-Match and If-None-Match (RFC 9110)' },
  {
    name: 'Location',
    description: 'The address of the new resource, or of the target of a redirect',
    schema: { type: 'string', format: 'uri-reference' },
  },
  { name: 'Retry-After', description: 'Seconds to wait before the next attempt', schema: { type: 'integer' } },
  { name: 'WWW-Authenticate', description: 'Why the token was rejected (RFC 6750)' },
]

export function makeSharedParts(components: Components, schemaName: string): SharedParts {
  const parameters = makeCollection()
  const headers = makeCollection()
  const responses = makeCollection()
  const problemContent = () => ({ [problemType]: { schema: components.addBuiltIn(schemaName, problemSchema) } })

  const header = (given: string): readonly [string, object] => {
    const { name, description, schema = text } = findKnown(responseHeaders, given)
    const made = { ...(description === '' ? {} : { description }), schema }
    return [name, { $ref: `#/components/headers/${headers.add(name, () => made)}` }]
  }
  const shared: SharedParts = {
    parameter(given, need) {
      const { name, description, schema = text } = findKnown(requestHeaders, given)
      const isRequired = need === 'required'
      const make = () => ({
        name,
        in: 'header',
        ...(isRequired ? { required: true } : {}),
        ...(description === '' ? {} : { description }),
        schema,
      })
      return { $ref: `#/components/parameters/${parameters.add(isRequired ? `${name}-Required` : name, make)}` }
    },
    headers: (names) => Object.fromEntries(names.map(header)),
    problemContent,
    problemResponse(status) {
      const { name, description, example, headers: names = [] } = findProblem(status)!
      const make = () => ({
        description,
        ...(names.length === 0 ? {} : { headers: shared.headers(names) }),
        content: makeProblemContent(problemContent(), example),
      })
      return { $ref: `#/components/responses/${responses.add(name, make)}` }
    },
    write: () => ({ parameters: parameters.write(), headers: headers.write(), responses: responses.write() }),
  }
  return shared
}

/** Names of headers do not distinguish case. */
function findKnown(known: readonly KnownHeader[], name: string): KnownHeader {
  return known.find((one) => one.name.toLowerCase() === name.toLowerCase()) ?? { name, description: '' }
}

function makeCollection() {
  const made = new Map<string, object>()
  return {
    /** @returns the name of the component */
    add(wanted: string, make: () => object): string {
      const name = wanted.replaceAll(/[^\w.-]/g, (character) => `_${character.codePointAt(0)!.toString(16)}`)
      if (!made.has(name)) made.set(name, make())
      return name
    },
    write: () => Object.fromEntries([...made].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  }
}
