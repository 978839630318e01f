import { Checkbox, TextInput } from '@mantine/core'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { addDiscriminator } from './change-fields.ts'
import { canBeNull, changeKeyword, changeNull } from './change-type.ts'
import { Flag, Limit, PlainValue } from './schema-limit.tsx'
import {
  findDiscriminator,
  hasPlainValue,
  limitsOf,
  listMoreKeywords,
  toKeywords,
  type Keys,
  type NamedSchemas,
  type Row,
  type TypePart,
} from './schema-rows.ts'
import { valueAt, withValueAt } from './values.ts'
import { schemaEditorTexts } from './schema-texts.ts'

const partsTexts = {
  list: 'List',
  items: 'Each item',
} as const

/** A change of the whole schema. */
export type LimitsRow = (root: unknown) => unknown

interface LimitsPanelProps {
  readonly row: Row
  readonly title: string
  readonly named: NamedSchemas
  onChange(change: LimitsRow): void
}

/** What limits the values of a row, and all that is not in its line. */
export function LimitsPanel({ row, title, named, onChange }: LimitsPanelProps) {
  const setAt = (keys: Keys, keyword: string) => (value: unknown) =>
    onChange((root) => {
      const at = [...row.at, ...keys]
      return withValueAt(root, at, changeKeyword(valueAt(root, at), keyword, value))
    })
  const { kind, isNullable, inner } = row.types[0]!
  const own = toKeywords(row.schema)
  const panel = useRef<HTMLDivElement>(null)
  useEffect(() => {
    panel.current?.scrollIntoView({ block: 'nearest' }) // some browsers return a promise, which an effect must not return
  }, [])
  return (
    <div className="limits" ref={panel}>
      {row.types.map((part, index) => (
        <Limits
          key={part.inner.join('/')}
          row={row}
          part={part}
          title={title}
          heading={row.types.length === 1 ? undefined : part.kind === 'array' ? partsTexts.list : partsTexts.items}
          setAt={setAt}
        >
          {index > 0 && canBeNull(part.kind) ? (
            <Checkbox
              label={schemaEditorTexts.itemsNullable}
              checked={part.isNullable}
              onChange={({ currentTarget: { checked } }) =>
                onChange((root) => {
                  const at = [...row.at, ...part.outer]
                  return withValueAt(root, at, changeNull(valueAt(root, at), checked))
                })
              }
            />
          ) : null}
          {part.kind === 'union' ? <Discriminator row={row} named={named} onChange={onChange} /> : null}
        </Limits>
      ))}
      <div className="limits-grid">
        {hasPlainValue(kind) && kind !== 'const' ? (
          <PlainValue
            keyword="default"
            kind={isNullable || Array.isArray(toKeywords(valueAt(row.schema, inner))['enum']) ? 'any' : kind}
            value={own['default']}
            onChange={setAt([], 'default')}
            title={title}
          />
        ) : null}
        {kind === 'file' ? null : (
          <div className="limits-flags">
            {(['deprecated', 'readOnly', 'writeOnly'] as const).map((keyword) => (
              <Flag key={keyword} keyword={keyword} title={title} value={own[keyword]} onChange={setAt([], keyword)} />
            ))}
          </div>
        )}
      </div>
      <MoreKeywords row={row} />
    </div>
  )
}

function MoreKeywords({ row }: { readonly row: Row }) {
  const more = listMoreKeywords(row)
  if (more.length === 0) return null
  return (
    <div>
      <h3>{schemaEditorTexts.more}</h3>
      <p className="soft">{schemaEditorTexts.moreHint}</p>
      <ul className="limits-more">
        {more.map(({ keys, value }) => (
          <li key={keys.join('/')} className="mono" dir="ltr">
            {keys.join('.')}: {JSON.stringify(value)}
          </li>
        ))}
      </ul>
    </div>
  )
}

interface LimitsProps {
  readonly row: Row
  readonly part: TypePart
  readonly title: string
  readonly heading: string | undefined
  setAt(keys: Keys, keyword: string): (value: unknown) => void
  readonly children: ReactNode
}

function Limits({ row, part, title, heading, setAt, children }: LimitsProps) {
  const schema = toKeywords(valueAt(row.schema, part.inner))
  const keywords = limitsOf[part.kind]
  if (keywords.length === 0 && part.kind !== 'union' && heading === undefined) return null
  return (
    <div className="limits-part">
      {heading === undefined ? null : <h3>{heading}</h3>}
      <div className="limits-grid">
        {keywords.map((keyword) => (
          <Limit
            key={keyword}
            keyword={keyword}
            kind={part.kind}
            title={title}
            value={schema[keyword]}
            onChange={setAt(part.inner, keyword)}
          />
        ))}
        {children}
      </div>
    </div>
  )
}

/** The field that tells the alternatives apart, if at least one of them is described in place. */
function Discriminator({ row, named, onChange }: Pick<LimitsPanelProps, 'row' | 'named' | 'onChange'>) {
  const [typed, setTyped] = useState<string>()
  const current = findDiscriminator(row, named) ?? ''
  if (!row.children.some(({ types }) => types[0]!.kind === 'object')) return null
  const save = () => {
    if (typed !== undefined && typed !== '' && typed !== current) onChange((root) => addDiscriminator(root, row, typed))
    setTyped(undefined)
  }
  return (
    <TextInput
      label={schemaEditorTexts.discriminator}
      description={schemaEditorTexts.discriminatorHint}
      placeholder="type"
      value={typed ?? current}
      spellCheck={false}
      className="mono-input limits-wide"
      onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      onBlur={save}
      onKeyDown={(event) => {
        if (event.key !== 'Enter') return
        event.preventDefault()
        save()
      }}
    />
  )
}
