import { Button } from '@mantine/core'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import type { DraftEdit } from '../edit/draft-edit.ts'
import type { FieldProps } from '../edit/fields.tsx'
import { SchemaPicker, useNames } from '../edit/pickers.tsx'
import { SchemaEditor } from '../edit/schema-editor.tsx'
import { SchemaField, useNamedSchemas } from '../edit/schema-field.tsx'
import { isMap } from '../edit/values.ts'
import { AddResponse } from './add-response.tsx'
import { toContent, type BodyPart } from './media-types.ts'
import { NewSchema } from './new-schema.tsx'
import { ContentField } from './route-content.tsx'
import { placesOf, Section, type PartProps, type ServedMethod } from './route-section.tsx'
import { requestTexts, responsesTexts, schemaTexts } from './route-texts.ts'

interface SchemaChoiceProps extends FieldProps {
  readonly part: BodyPart
  /** The response has no body, such as 204. */
  readonly isBodyless?: boolean
  onOpen(schema: string): void
  onRemove?(): void
}

/** A schema by name, defined in place, or new. */
function SchemaChoice({ part, onOpen, onRemove, isBodyless: hasNoBody = false, ...field }: SchemaChoiceProps) {
  const { edit, at, label } = field
  const [isAdding, setAdding] = useState(false)
  const value = edit.get(at)
  const names = useNames('schema')
  const remove =
    onRemove === undefined ? null : (
      <Button variant="subtle" aria-label={responsesTexts.remove(label)} onClick={onRemove}>
        {responsesTexts.removeShort}
      </Button>
    )
  if (hasNoBody)
    return (
      <div className="button-row">
        <span>
          {label}: <span className="soft">{responsesTexts.noBody}</span>
        </span>
        {remove}
      </div>
    )
  if (isMap(value) && 'content' in value)
    return (
      <div className="stack-small">
        <ContentField edit={edit} at={at} label={label} part={part} />
        <div className="button-row">{remove}</div>
      </div>
    )
  return (
    <div className="stack-small">
      <SchemaPicker {...field}>
        <SchemaField edit={edit} at={at} label={label} />
      </SchemaPicker>
      <div className="button-row">
        {typeof value === 'string' && names.includes(value) ? (
          <Button variant="subtle" onClick={() => onOpen(value)}>
            {schemaTexts.edit(value)}
          </Button>
        ) : null}
        {isMap(value) ? null : (
          <Button variant="subtle" onClick={() => edit.set(at, { type: 'object' })}>
            {schemaTexts.inPlace}
          </Button>
        )}
        <Button variant="subtle" leftSection={<Plus size={14} aria-hidden />} onClick={() => setAdding(true)}>
          {schemaTexts.new}
        </Button>
        <Button variant="subtle" onClick={() => edit.set(at, toContent(value))}>
          {schemaTexts.content}
        </Button>
        {remove}
      </div>
      {isAdding ? <NewSchema onAdd={(name) => edit.set(at, name)} onClose={() => setAdding(false)} /> : null}
    </div>
  )
}

/** Whether the action itself says what requests and responses are, such as one for a table. */
function isFromAction(served: ServedMethod, part: 'request' | 'responses'): boolean {
  if (served === undefined || served.action.kind === 'file') return false
  return part === 'request' ? served.request !== undefined : Object.keys(served.responses).length > 0
}

interface SchemasProps {
  readonly served: ServedMethod
  onOpen(schema: string): void
}

/** What a method accepts. */
export function RequestSection({ edit, method, path, served, onOpen }: PartProps & SchemasProps) {
  const at = placesOf(method, path)
  const names = path.split('/').flatMap((step) => (/^[:*]/.test(step) ? [step.slice(1)] : []))
  const query = `${at.method}/parameters`
  return (
    <Section title={requestTexts.title}>
      {names.length === 0 ? null : <Parameters edit={edit} at={at.params} label={requestTexts.path} required={names} />}
      {edit.get(query) === undefined ? (
        <div>
          <Button
            variant="default"
            leftSection={<Plus size={14} aria-hidden />}
            onClick={() => edit.set(query, { page: { type: 'integer', minimum: 0 } })}
          >
            {requestTexts.addQuery}
          </Button>
        </div>
      ) : (
        <Parameters edit={edit} at={query} label={requestTexts.query} />
      )}
      {method === 'GET' ? null : (
        <SchemaChoice
          edit={edit}
          at={`${at.method}/request`}
          part="request"
          label={requestTexts.body}
          description={requestTexts.bodyText}
          fallback={
            edit.before(`${at.method}/request`) === undefined && isFromAction(served, 'request')
              ? requestTexts.ofAction(served?.action.name ?? '')
              : requestTexts.anyBody
          }
          onOpen={onOpen}
        />
      )}
    </Section>
  )
}

interface ParametersProps {
  readonly edit: DraftEdit
  readonly at: string
  readonly label: string
  /** Path parameters: all are required. */
  readonly required?: readonly string[]
}

/** Parameters are a map of name to schema, an object schema, or the name of one. */
function Parameters({ edit, at, label, required }: ParametersProps) {
  const named = useNamedSchemas()
  const value = edit.get(at)
  if (typeof value === 'string') return <SchemaPicker edit={edit} at={at} label={label} />
  const map = isMap(value) ? value : Object.fromEntries((required ?? []).map((name) => [name, { type: 'string' }]))
  const isSchema = typeof map['type'] === 'string' || Array.isArray(map['required']) || '$ref' in map
  const schema = isSchema ? map : { type: 'object', properties: map, ...(required === undefined ? {} : { required }) }
  const change = (next: unknown) => {
    if (isSchema || !isMap(next)) return edit.set(at, next)
    const properties = isMap(next['properties']) ? next['properties'] : {}
    const mustSend = Array.isArray(next['required']) && next['required'].length > 0 && required === undefined
    if (mustSend) return edit.set(at, next)
    return edit.set(at, Object.keys(properties).length === 0 ? undefined : properties)
  }
  return (
    <section className="stack-small" data-at={at} aria-label={label}>
      <SchemaEditor
        schema={schema}
        onChange={change}
        named={named}
        label={label}
        at={at}
        errorOf={(place) => edit.errorOf(isSchema ? place : place.replace(`${at}/properties`, at))}
      />
    </section>
  )
}

/** What a method responds with. */
export function ResponseSection({
  edit,
  at,
  served,
  onOpen,
}: SchemasProps & {
  readonly edit: DraftEdit
  readonly at: string
}) {
  const all = edit.get(`${at}/responses`)
  const others = isMap(all) ? Object.keys(all).toSorted() : []
  const single = edit.get(`${at}/response`)
  const used = new Set([...others, ...(single === undefined ? [] : ['200'])])
  const places = [
    ...(single === undefined ? [] : [['200', `${at}/response`] as const]),
    ...others.map((status) => [status, `${at}/responses/${status}`] as const),
  ]
  const add = (status: string) =>
    status === '200'
      ? edit.set(`${at}/response`, { type: 'object' })
      : edit.set(`${at}/responses/${status}`, isBodyless(status) ? null : { type: 'object' })
  return (
    <Section title={responsesTexts.title}>
      {places.length === 0 && isFromAction(served, 'responses') ? (
        <p className="soft">{responsesTexts.ofAction(served?.action.name ?? '')}</p>
      ) : null}
      {places.map(([status, place]) => (
        <SchemaChoice
          key={place}
          edit={edit}
          at={place}
          part="response"
          label={responsesTexts.schema(status)}
          onOpen={onOpen}
          isBodyless={isBodyless(status)}
          onRemove={() =>
            edit.set(others.length === 1 && place.includes('/responses/') ? `${at}/responses` : place, undefined)
          }
        />
      ))}
      <AddResponse
        used={used}
        onAdd={(status) => {
          add(status)
          return status === '200' ? `${at}/response` : `${at}/responses/${status}`
        }}
      />
    </Section>
  )
}

function isBodyless(status: string): boolean {
  return ['204', '205', '304'].includes(status)
}
