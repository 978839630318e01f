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
  /** By `path NAME`, `query NAME` or `header NAME`. */
  readonly parameters: Readonly<Record<string, string>>
  readonly body: string
}

export function exampleBody({ example }: CalledMethod): string {
  return JSON.stringify(example ?? {}, null, 2)
}

/** Writes the path of a request with its query. Path parameters that are missing stay as they are. */
export function writePath({ path: pattern, query, schemas }: CalledMethod, { parameters }: RequestValues): string {
  const path = pattern.replaceAll(/:(\w+)/g, (whole, name: string) => {
    const value = parameters[`path ${name}`] ?? ''
    return value === '' ? whole : encodeURIComponent(value)
  })
  const search = new URLSearchParams()
  for (const { name } of parametersOf(query, schemas)) {
    const value = parameters[`query ${name}`] ?? ''
    if (value !== '') search.append(name, value)
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
        value={parameters[`${kind} ${parameter.name}`] ?? ''}
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
  readonly value: string
  onChange(value: string): void
}

function Field({ name, schema, isRequired, value, onChange }: FieldProps) {
  const options = schema['type'] === 'boolean' ? ['true', 'false'] : (schema['enum'] as readonly unknown[] | undefined)
  const common = {
    label: name,
    required: isRequired,
    value,
    ...(typeof schema['description'] === 'string' ? { description: schema['description'] } : {}),
  }
  if (options !== undefined) {
    return (
      <NativeSelect
        {...common}
        data={['', ...options.map(String)]}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    )
  }
  const initial = schema['default'] ?? (schema['examples'] as readonly unknown[] | undefined)?.[0]
  return (
    <TextInput
      {...common}
      placeholder={initial === undefined ? '' : writeExample(initial)}
      onChange={(event) => onChange(event.currentTarget.value)}
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
