import { NativeSelect, Textarea, TextInput } from '@mantine/core'
import { tryItTexts as texts } from './try-texts.ts'
import { BodyFields, BodyTypeField } from './body-fields.tsx'
import { kindOf } from './body-values.ts'
import {
  chosenType,
  findVariants,
  isDots,
  isList,
  mayBeEmpty,
  optionsOf,
  parametersOf,
  type CalledMethod,
  type Parameter,
  type RequestValues,
} from './request-values.ts'

const maxMain = 6

/** Parameters that are often used, and others. */
function splitParameters(all: readonly Parameter[]): readonly [main: readonly Parameter[], more: readonly Parameter[]] {
  const variants = findVariants(all.map(({ name }) => name))
  const common = new Set(all.filter(({ name }) => !variants.has(name)).slice(0, maxMain))
  const main = all.filter((one) => one.isRequired || common.has(one))
  return [main, all.filter((one) => !main.includes(one))]
}

interface RequestFieldsProps {
  readonly method: CalledMethod
  readonly values: RequestValues
  onChange(values: RequestValues): void
}

/** The fields of a request: path parameters, query, headers and body. */
export function RequestFields({ method, values, onChange }: RequestFieldsProps) {
  const { parameters, body, example } = values
  const chosen = chosenType(method, values)
  const sent = values.sent ?? { type: chosen?.type ?? '', texts: {}, files: {} }
  const [main, more] = splitParameters(parametersOf(method.query, method.schemas))
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
      {chosen === undefined ? null : (
        <BodyTypeField
          types={method.bodyTypes ?? []}
          chosen={chosen.type}
          onChange={(type) => onChange({ ...values, sent: { ...sent, type } })}
        />
      )}
      {chosen !== undefined && kindOf(chosen) !== 'json' ? (
        <BodyFields
          body={chosen}
          values={sent}
          named={method.schemas}
          onChange={(next) => onChange({ ...values, sent: next })}
        />
      ) : method.hasBody ? (
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
  const options = optionsOf(schema)
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
        data={['', ...options]}
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
