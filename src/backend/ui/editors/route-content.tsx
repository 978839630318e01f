import { ActionIcon, Button, NativeSelect, TextInput } from '@mantine/core'
import { Plus, X } from 'lucide-react'
import { useId, useState } from 'react'
import type { DraftEdit } from '../edit/draft-edit.ts'
import { SchemaPicker } from '../edit/pickers.tsx'
import { SchemaField } from '../edit/schema-field.tsx'
import { pointerOf, valueAt } from '../edit/values.ts'
import {
  addType,
  changeSchema,
  isMediaType,
  isStream,
  listTypes,
  mayHaveSchema,
  multipartType,
  needsSchema,
  offeredTypes,
  removeType,
  schemaOfOnlyJson,
  type BodyPart,
} from './media-types.ts'
import { contentTexts as texts } from './route-texts.ts'

interface ContentFieldProps {
  readonly edit: DraftEdit
  /** The pointer of the map with the key `content`. */
  readonly at: string
  readonly label: string
  readonly part: BodyPart
}

/** The media types of a request or a response, each with its schema. */
export function ContentField({ edit, at, label, part }: ContentFieldProps) {
  const place = `${at}/content`
  const content = edit.get(place)
  const types = listTypes(content)
  const onlyJson = schemaOfOnlyJson(content)
  const add = (type: string) => {
    edit.set(place, addType(content, type, part))
    const limit = at.replace(/\/request$/, '/body_limit')
    if (part === 'request' && type === multipartType && edit.get(limit) === undefined) edit.set(limit, '6mb')
  }
  const error = Array.isArray(content) ? edit.errorOf(place) : undefined // others are shown at their media types
  return (
    <section className="stack-small" aria-label={label} data-at={place}>
      <h3>{label}</h3>
      <p className="soft">{texts.text[part]}</p>
      {types.map((type) => (
        <MediaTypeField
          key={type}
          edit={edit}
          at={place}
          type={type}
          part={part}
          {...(types.length > 1 && { onRemove: () => edit.set(place, removeType(content, type)) })}
        />
      ))}
      <FieldError text={error} />
      <NewMediaType label={label} part={part} known={types} onAdd={add} />
      {onlyJson === undefined ? null : (
        <span>
          <Button variant="subtle" onClick={() => edit.set(at, onlyJson)}>
            {texts.onlyJson}
          </Button>
        </span>
      )}
    </section>
  )
}

interface MediaTypeFieldProps {
  readonly edit: DraftEdit
  /** The pointer of the media types. */
  readonly at: string
  readonly type: string
  readonly part: BodyPart
  onRemove?(): void
}

/** A media type: its schema, or that it is bytes. */
function MediaTypeField({ edit, at, type, part, onRemove }: MediaTypeFieldProps) {
  const content = edit.get(at)
  const schema = valueAt(content, [type])
  const hasSchema = needsSchema(type, part) || (!Array.isArray(content) && schema !== null && schema !== undefined)
  const place = at + pointerOf(type)
  const label = part === 'response' && isStream(type) ? texts.item(type) : texts.schema(type)
  const field = (
    <SchemaField edit={edit} at={place} label={type} hasFiles={part === 'request' && type === multipartType} />
  )
  return (
    <div className="stack-small media-type">
      <div className="step-row">
        <code translate="no">{type}</code>
        {needsSchema(type, part) || !mayHaveSchema(type, part) ? null : (
          <NativeSelect
            aria-label={texts.kind(type)}
            value={hasSchema ? 'text' : 'bytes'}
            data={Object.entries(texts.kinds).map(([value, label]) => ({ value, label }))}
            onChange={({ currentTarget: { value } }) =>
              edit.set(at, changeSchema(content, type, value === 'text' ? { type: 'string' } : null))
            }
          />
        )}
        <ActionIcon size={28} aria-label={texts.remove(type)} disabled={onRemove === undefined} onClick={onRemove}>
          <X size={14} aria-hidden />
        </ActionIcon>
      </div>
      {!hasSchema ? (
        <>
          <p className="soft">{texts.bytes[part]}</p>
          <FieldError text={edit.errorOf(place)} />
        </>
      ) : type === multipartType ? (
        field // Only a schema in place has files.
      ) : (
        <SchemaPicker edit={edit} at={place} label={label} isRequired>
          {field}
        </SchemaPicker>
      )}
    </div>
  )
}

function FieldError({ text }: { readonly text: string | undefined }) {
  if (text === undefined) return null
  return (
    <p className="field-error" role="alert">
      {text}
    </p>
  )
}

interface NewMediaTypeProps {
  readonly label: string
  readonly part: BodyPart
  readonly known: readonly string[]
  onAdd(type: string): void
}

function NewMediaType({ label, part, known, onAdd }: NewMediaTypeProps) {
  const [typed, setTyped] = useState('')
  const list = useId()
  const type = typed.trim().toLowerCase()
  const problem = known.includes(type) ? texts.repeated(type) : isMediaType(type) ? undefined : texts.invalid
  const add = () => {
    if (problem !== undefined) return
    onAdd(type)
    setTyped('')
  }
  return (
    <div className="with-button">
      <TextInput
        label={texts.add(label)}
        description={texts.newText}
        className="mono-input grow"
        list={list}
        value={typed}
        error={type === '' || !type.includes('/') ? undefined : problem}
        onChange={({ currentTarget: { value } }) => setTyped(value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          event.preventDefault()
          add()
        }}
      />
      <datalist id={list}>
        {offeredTypes[part].flatMap((one) => (known.includes(one) ? [] : [<option key={one} value={one} />]))}
      </datalist>
      <Button
        variant="default"
        leftSection={<Plus size={14} aria-hidden />}
        disabled={problem !== undefined}
        onClick={add}
      >
        {texts.addShort}
      </Button>
    </div>
  )
}
