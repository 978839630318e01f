import { FileInput, NativeSelect, Textarea, TextInput } from '@mantine/core'
import type { NamedSchemas } from '../components/named-schemas.ts'
import { kindOf, partsOf, type BodyPart, type BodyType, type BodyValues } from './body-values.ts'
import { optionsOf } from './request-values.ts'
import { tryItTexts as texts } from './try-texts.ts'

interface BodyTypeFieldProps {
  readonly types: readonly BodyType[]
  readonly chosen: string
  onChange(type: string): void
}

/** Chooses one of several media types. */
export function BodyTypeField({ types, chosen, onChange }: BodyTypeFieldProps) {
  if (types.length < 2) return null
  return (
    <NativeSelect
      label={texts.bodyType}
      value={chosen}
      data={types.map(({ type }) => type)}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

interface BodyFieldsProps {
  readonly body: BodyType
  readonly values: BodyValues
  readonly named: NamedSchemas
  onChange(values: BodyValues): void
}

/** The fields of a body that is not JSON. */
export function BodyFields({ body, values, named, onChange }: BodyFieldsProps) {
  const setText = (name: string, text: string) => onChange({ ...values, texts: { ...values.texts, [name]: text } })
  const setFiles = (name: string, files: readonly File[]) =>
    onChange({ ...values, files: { ...values.files, [name]: files } })
  const kind = kindOf(body)
  if (kind === 'bytes')
    return (
      <FileInput
        label={texts.file(body.type)}
        accept={body.type}
        placeholder={texts.chooseFile}
        clearable
        clearButtonProps={{ 'aria-label': texts.clearFile(body.type) }}
        value={values.files['']?.[0] ?? null}
        onChange={(file) => setFiles('', file === null ? [] : [file])}
      />
    )
  if (kind === 'text')
    return (
      <Textarea
        label={`${texts.body} (${body.type})`}
        value={values.texts[''] ?? ''}
        autosize
        minRows={3}
        maxRows={20}
        onChange={(event) => setText('', event.currentTarget.value)}
      />
    )
  return partsOf(body, named).map((part) => (
    <PartField
      key={part.name}
      part={part}
      text={values.texts[part.name] ?? ''}
      files={values.files[part.name] ?? []}
      onText={(text) => setText(part.name, text)}
      onFiles={(files) => setFiles(part.name, files)}
    />
  ))
}

interface PartFieldProps {
  readonly part: BodyPart
  readonly text: string
  readonly files: readonly File[]
  onText(text: string): void
  onFiles(files: readonly File[]): void
}

function PartField({ part, text, files, onText, onFiles }: PartFieldProps) {
  const { name, kind, schema, isRequired, accept } = part
  const described = typeof schema['description'] === 'string' ? schema['description'] : undefined
  const hint = kind === 'list' ? texts.lines : kind === 'json' ? texts.jsonPart : undefined
  const limits = part.maxSize === undefined ? undefined : texts.fileLimits(part.maxSize, part.types)
  const description = [described, limits, hint].filter(Boolean).join(' · ')
  const common = { label: name, required: isRequired, ...(description === '' ? {} : { description }) }
  const clearable = { clearable: true, clearButtonProps: { 'aria-label': texts.clearFile(name) } }
  const accepted = accept === undefined ? {} : { accept }
  if (kind === 'file')
    return (
      <FileInput
        {...common}
        {...accepted}
        placeholder={texts.chooseFile}
        {...clearable}
        value={files[0] ?? null}
        onChange={(file) => onFiles(file === null ? [] : [file])}
      />
    )
  if (kind === 'files')
    return (
      <FileInput
        {...common}
        {...accepted}
        placeholder={texts.chooseFiles}
        {...clearable}
        multiple
        value={[...files]}
        onChange={onFiles}
      />
    )
  const options = kind === 'text' ? optionsOf(schema) : undefined
  if (options !== undefined)
    return (
      <NativeSelect
        {...common}
        value={text}
        data={['', ...options]}
        onChange={(event) => onText(event.currentTarget.value)}
      />
    )
  if (kind === 'text')
    return <TextInput {...common} value={text} onChange={(event) => onText(event.currentTarget.value)} />
  return (
    <Textarea
      {...common}
      value={text}
      autosize
      minRows={2}
      maxRows={10}
      spellCheck={false}
      onChange={(event) => onText(event.currentTarget.value)}
    />
  )
}
