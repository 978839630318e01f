import assert from 'node:assert/strict'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { findReservedPath, findResponseKey } from '../../src/kit/index.ts'
import type { Manifest, ManifestAction, StoredRelease } from '../../src/release/index.ts'
import { makeOpenApi } from '../../src/runtime/index.ts'
import type { ReceivedAnswer } from './answer-checks.ts'

/**
 * Answers that the description of a method cannot contain, because Waypost sends them before it has chosen the method, or
 * for every method alike. Everything else must be described.
 */
const exempt: Readonly<Record<string, string>> = {
  405: 'the method does not exist, so it has no description; the header Allow lists those that do',
  408: 'the request did not arrive completely, so it may be for any method',
  414: 'the router rejects a segment that is too long before it has chosen a method',
  421: 'the host is rejected before routing',
  431: 'the headers are rejected before routing',
}

/** Browsers that register a service worker are rejected before routing. */
const isServiceWorker = (text: string) => text.includes('"urn:waypost:errors#WP_RUNTIME_SERVICE_WORKER"')

/** Headers that clients act on. */
const essential = ['etag', 'location', 'retry-after', 'www-authenticate', 'allow', 'accept-encoding']

// oxlint-disable-next-line typescript/no-explicit-any -- a document of OpenAPI
type Json = any

/**
 * Checks the answers of a server by the description of its release.
 * @param loadDocument returns `/openapi.json` of the server, or undefined if it serves none
 */
export function checkAnswersOf({ manifest }: Pick<StoredRelease, 'manifest'>, loadDocument: () => Promise<Json>) {
  let making: Promise<ReturnType<typeof makeAnswerCheck> | undefined> | undefined
  const make = async () => {
    // Only the server knows the routes of plugins.
    const document = manifest.plugins.some(({ catalog }) => catalog.routes)
      ? await loadDocument()
      : makeOpenApi(manifest)
    return document && makeAnswerCheck(document, manifest.routes)
  }
  return async (answer: ReceivedAnswer): Promise<void> => {
    if (findReservedPath(answer.path.split('?', 1)[0]!) !== undefined) return // not described
    const check = await (making ??= make())
    check?.(answer)
  }
}

/**
 * Makes a function that compares an answer with the description of its method in `/openapi.json`: the status, the content
 * type, the headers that clients act on, and the body. Answers outside the described paths pass.
 * @param routes of the project that the document describes; undefined for endpoints of Waypost
 */
export function makeAnswerCheck(document: Json, routes?: Manifest['routes']) {
  const operations = listOperations(routes, JSON.parse(JSON.stringify(document)))
  const components = { components: document.components }
  let ajv: Ajv2020 | undefined
  const validators = new Map<object, ValidateFunction>()
  const validatorOf = (schema: object): ValidateFunction => {
    ajv ??= new Ajv2020({ strict: false, validateFormats: false, allErrors: false, ownProperties: true }).addSchema(
      components,
      'document',
    )
    let validator = validators.get(schema)
    if (validator === undefined) {
      validator = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"document#/')))
      validators.set(schema, validator)
    }
    return validator
  }
  const resolve = (part: Json): Json =>
    part?.$ref === undefined
      ? part
      : resolve(
          part.$ref
            .slice(2)
            .split('/')
            .reduce((at: Json, key: string) => at[key], document),
        )

  return (answer: ReceivedAnswer): void => {
    const { status, headers, text } = answer
    const operation = operations.find((one) => one.isFor(answer))
    if (operation === undefined || isExempt(answer)) return
    const { responses } = operation.described
    const described = resolve(responses[findResponseKey(String(status), responses) ?? 'default'])
    const type = mediaTypeOf(headers)
    const at = `${answer.method} ${answer.path} answered ${status} ${type ?? ''}`
    if (described === undefined) {
      if (operation.isCode && !text.includes('"urn:waypost:errors#')) return // the project has chosen the status
      assert.fail(`${at}, which /openapi.json does not describe: only ${Object.keys(responses).join(', ')}`)
    }
    // What code of the project adds with context.respond is not declared.
    const isProblem = type === 'application/problem+json'
    if (!operation.isCode || isProblem)
      assert.deepEqual(
        findUndescribed(headers, described),
        [],
        `${at} with headers that /openapi.json does not describe`,
      )
    if (answer.method === 'HEAD' || text === '') return
    const media = findMedia(described, type)
    if (media === undefined) {
      if (operation.isCode && !isProblem) return
      assert.fail(`${at}, but /openapi.json describes ${Object.keys(described.content ?? { 'no body': 1 }).join(', ')}`)
    }
    if (!/[/+]json$/.test(type!) || media.schema === undefined) return
    const body = parseJson(text)
    if (body === undefined && operation.isCode) return // bytes, which are sent unchanged
    const validate = validatorOf(media.schema)
    const isValid = validate(body)
    assert.ok(
      isValid,
      `${at}, whose body does not match /openapi.json: ${JSON.stringify(validate.errors)} ${text.slice(0, 500)}`,
    )
  }
}

function isExempt(answer: ReceivedAnswer): boolean {
  return Object.hasOwn(exempt, answer.status) || isMalformed(answer) || isServiceWorker(answer.text)
}

function mediaTypeOf(headers: ReceivedAnswer['headers']): string | undefined {
  return headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
}

function findMedia({ content = {} }: Json, type: string | undefined): Json {
  return content[type!] ?? content['*/*']
}

/** Returns the important headers of an answer that its description lacks. */
function findUndescribed(headers: ReceivedAnswer['headers'], described: Json): readonly string[] {
  const known = new Set(Object.keys(described.headers ?? {}).map((name) => name.toLowerCase()))
  return essential.filter((name) => headers[name] !== undefined && !known.has(name))
}

interface Operation {
  readonly described: Json
  /** Whether code of the project or of one of its plugins answers. */
  readonly isCode: boolean
  isFor(answer: Pick<ReceivedAnswer, 'method' | 'path'>): boolean
}

function listOperations(routes: Manifest['routes'] | undefined, { paths }: Json): readonly Operation[] {
  const actions = new Map<string, ManifestAction>(
    (routes ?? []).flatMap(({ path, methods }) => methods.map(({ method, action }) => [`${method} ${path}`, action])),
  )
  const entries: [string, Json][] = Object.entries(paths)
  return entries
    .toSorted(([a], [b]) => (rank(a) < rank(b) ? -1 : 1))
    .flatMap(([template, item]) => {
      const steps = template.split('/')
      const isPath = (path: string) => {
        const own = path.split('?', 1)[0]!.split('/')
        return own.length === steps.length && steps.every((step, index) => matches(step, own[index]!))
      }
      return Object.entries(item).map(([verb, described]): Operation => {
        const method = verb.toUpperCase()
        const action = actions.get(`${method} ${template.replaceAll(/\{(\w+)\}/g, ':$1')}`)
        return {
          described,
          isCode: routes !== undefined && (action === undefined || 'file' in action),
          isFor: (answer) => (answer.method === 'HEAD' ? 'GET' : answer.method) === method && isPath(answer.path),
        }
      })
    })
}

/** The router prefers text to parameters, from the first segment on. */
function rank(template: string): string {
  return template.replaceAll(/\{\w+\}/g, '\uffff')
}

function matches(step: string, segment: string): boolean {
  if (!step.includes('{')) return step === segment || step === decode(segment)
  const pattern = step
    .split(/\{\w+\}/)
    .map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`))
    .join('.*')
  return new RegExp(`^${pattern}$`, 's').test(segment)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** Not valid HTTP: the parser rejects it before it has chosen a method. */
function isMalformed({ status, text }: ReceivedAnswer): boolean {
  return status === 400 && /WP_RUNTIME_(HTTP|HOSTS|TARGET)"/.test(text)
}
