import { NativeSelect, Textarea, TextInput } from '@mantine/core'
import { resolveSchema, toSchema, type NamedSchemas, type Schema } from '../components/named-schemas.ts'
import { api } from '../strings/api.ts'

const { tryIt: texts } = api

/** A method that can be called. */
export interface CalledMethod {
  readonly method: string
  /** With `:name` for parameters. */
  readonly path: string
  readonly public: boolean
  readonly scopes: readonly string[]
  /** The schemas of the path parameters and of the query. */
  readonly params?: unknown
  readonly query?: unknown
  /** The schema of the headers that it reads. */
  readonly headers?: unknown
  /** The schemas that they refer to. */
  readonly schemas: NamedSchemas
  readonly hasBody: boolean
  /** An example of the body. */
  readonly example?: unknown
}

interface Parameter {
  readonly name: string
  readonly schema: Schema
  readonly isRequired: boolean
}

function parametersOf(schema: unknown, named: NamedSchemas): readonly Parameter[] {
  const own = resolveSchema(schema, named)
  const required = new Set((own['required'] ?? []) as readonly string[])
  return Object.entries(toSchema(own['properties'])).map(([name, value]) => {
    return { name, schema: resolveSchema(value, named), isRequired: required.has(name) }
  })
}

function hasType({ type }: Schema, name: string): boolean {
  return type === name || (Array.isArray(type) && type.includes(name))
}

function isList(schema: Schema): boolean {
  return hasType(schema, 'array')
}

/** Whether text without characters is a possible value. */
function mayBeEmpty(schema: Schema): boolean {
  const { minLength = 0, format, enum: values, pattern } = schema
  return hasType(schema, 'string') && minLength === 0 && [format, values, pattern].every((one) => one === undefined)
}

const maxMain = 6

/** Returns the names of variants of other parameters, such as `price.gte`: a list of rows has five for each number. */
export function findVariants(names: readonly string[]): ReadonlySet<string> {
  const all = new Set(names)
  return new Set(names.filter((name) => all.has(name.slice(0, Math.max(0, name.lastIndexOf('.'))))))
}

/** Parameters that are often used, and others. */
function splitParameters(all: readonly Parameter[]): readonly [main: readonly Parameter[], more: readonly Parameter[]] {
  const variants = findVariants(all.map(({ name }) => name))
  const common = new Set(all.filter(({ name }) => !variants.has(name)).slice(0, maxMain))
  const main = all.filter((one) => one.isRequired || common.has(one))
  return [main, all.filter((one) => !main.includes(one))]
}

/** What was typed into the form of a request. */
export interface RequestValues {
  /**
   * By `path NAME`, `query NAME` or `header NAME`; a list has one value in each line. Empty text is sent in the query, and
   * otherwise the same as none.
   */
  readonly parameters: Readonly<Record<string, string | undefined>>
  readonly body: string
}

export function exampleBody({ example }: CalledMethod): string {
  return JSON.stringify(example ?? {}, null, 2)
}

/** Whether the value of a path parameter is a whole segment that every client would remove, so that it calls another path. */
export function hasDots(
  { path }: Pick<CalledMethod, 'path'>,
  { parameters }: Pick<RequestValues, 'parameters'>,
): boolean {
  return path.split('/').some((part) => part.startsWith(':') && isDots(parameters[`path ${part.slice(1)}`]))
}

function isDots(value: string | undefined): boolean {
  return value === '.' || value === '..'
}

/** Writes the path of a request with its query. Path parameters that are missing or not possible stay as they are. */
export function writePath({ path: pattern, query, schemas }: CalledMethod, { parameters }: RequestValues): string {
  const path = pattern
    .split('/')
    .map((part) => {
      const filled = part.replaceAll(/:(\w+)/g, (whole, name: string) => {
        const value = parameters[`path ${name}`] ?? ''
        return value === '' ? whole : encodeURIComponent(value)
      })
      return isDots(filled) ? part : filled
    })
    .join('/')
  const search = new URLSearchParams()
  for (const { name, schema } of parametersOf(query, schemas)) {
    const value = parameters[`query ${name}`]
    if (value === undefined) continue
    for (const one of isList(schema) ? value.replace(/\n$/, '').split('\n') : [value]) search.append(name, one)
  }
  const text = search.toString()
  return text === '' ? path : `${path}?${text}`
}

/** Returns the headers that were filled in. */
export function writeHeaders(
  { headers, schemas }: CalledMethod,
  { parameters }: RequestValues,
): readonly (readonly [string, string])[] {
  const filled = parametersOf(headers, schemas).map(({ name }) => [name, parameters[`header ${name}`] ?? ''] as const)
  return filled.filter(([, value]) => value !== '')
}

interface RequestFieldsProps {
  readonly method: CalledMethod
  readonly values: RequestValues
  onChange(values: RequestValues): void
}

/** The fields of a request: path parameters, query, headers and body. */
export function RequestFields({ method, values, onChange }: RequestFieldsProps) {
  const { parameters, body } = values
  const [main, more] = splitParameters(parametersOf(method.query, method.schemas))
  const example = exampleBody(method)
  const fields = (all: readonly Parameter[], kind: string) =>
    all.map((parameter) => (
      <Field
        key={`${kind} ${parameter.name}`}
        {...parameter}
        value={parameters[`${kind} ${parameter.name}`]}
        isInQuery={kind === 'query'}
        problem={kind === 'path' && isDots(parameters[`path ${parameter.name}`]) ? texts.dots : undefined}
        onChange={(value) =>
          onChange({ ...values, parameters: { ...parameters, [`${kind} ${parameter.name}`]: value } })
        }
      />
    ))
  return (
    <>
      {fields(parametersOf(method.params, method.schemas), 'path')}
      {fields(main, 'query')}
      {more.length === 0 ? null : (
        <details>
          <summary>{texts.more(more.length)}</summary>
          <div className="stack try-more">{fields(more, 'query')}</div>
        </details>
      )}
      {fields(parametersOf(method.headers, method.schemas), 'header')}
      {method.hasBody ? (
        <div>
          <Textarea
            label={texts.body}
            value={body}
            onChange={(event) => onChange({ ...values, body: event.currentTarget.value })}
            error={findJsonProblem(body)}
            autosize
            minRows={3}
            maxRows={20}
            spellCheck={false}
            classNames={{ input: 'mono' }}
          />
          {body === example ? null : (
            <button type="button" className="text-button" onClick={() => onChange({ ...values, body: example })}>
              {texts.reset}
            </button>
          )}
        </div>
      ) : null}
    </>
  )
}

interface FieldProps extends Parameter {
  readonly value: string | undefined
  readonly isInQuery: boolean
  readonly problem: string | undefined
  /** Undefined sends nothing. */
  onChange(value: string | undefined): void
}

function Field({ name, schema, isRequired, isInQuery, value, problem, onChange }: FieldProps) {
  const options = schema['type'] === 'boolean' ? ['true', 'false'] : (schema['enum'] as readonly unknown[] | undefined)
  const common = {
    label: name,
    required: isRequired && value !== '',
    value: value ?? '',
    error: problem,
    ...(typeof schema['description'] === 'string' ? { description: schema['description'] } : {}),
  }
  if (options !== undefined) {
    return (
      <NativeSelect
        {...common}
        data={['', ...options.map(String)]}
        onChange={(event) => onChange(event.currentTarget.value || undefined)}
      />
    )
  }
  const initial = schema['default'] ?? (schema['examples'] as readonly unknown[] | undefined)?.[0]
  if (isInQuery && isList(schema))
    return (
      <Textarea
        {...common}
        description={[common.description, texts.lines].filter(Boolean).join(' · ')}
        autosize
        minRows={2}
        maxRows={8}
        spellCheck={false}
        placeholder={Array.isArray(initial) ? initial.map(writeExample).join('\n') : ''}
        onChange={(event) => onChange(event.currentTarget.value || undefined)}
      />
    )
  const isEmpty = value === ''
  const canBeEmpty = isInQuery && mayBeEmpty(schema) && (value === undefined || isEmpty)
  return (
    <TextInput
      {...common}
      placeholder={isEmpty ? texts.sentEmpty : initial === undefined ? '' : writeExample(initial)}
      {...(canBeEmpty
        ? {
            rightSectionWidth: 64,
            rightSection: (
              <button
                type="button"
                className="text-button"
                aria-pressed={isEmpty}
                aria-label={texts.sendEmpty(name)}
                onClick={() => onChange(isEmpty ? undefined : '')}
              >
                {texts.empty}
              </button>
            ),
          }
        : {})}
      onChange={(event) => onChange(event.currentTarget.value || undefined)}
    />
  )
}

function writeExample(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function findJsonProblem(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
