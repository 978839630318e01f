import { Button, Radio } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { describeValue } from '../edit/fields.tsx'
import { accessTexts as texts } from './route-texts.ts'

export type AccessKind = keyof typeof texts.kinds

interface AccessChoiceProps {
  readonly path: string
  readonly method: string
  readonly value: AccessKind
  /** The scopes of the path, for the methods that inherit its access; undefined if it has none. */
  readonly inherited: unknown
  /** JSON pointer of what is chosen, to find the field of an error. */
  readonly at: string
  onChange(kind: AccessKind): void
  /** The fields of what is chosen. Those of the path are behind a button: they apply to its other methods too. */
  readonly children: ReactNode
}

/** Who may call a method: what it inherits from its path, and what overrides that, as rows with a sentence each. */
export function AccessChoice({ path, method, value, inherited, at, onChange, children }: AccessChoiceProps) {
  const [isOpen, setOpen] = useState(false)
  const kinds = (Object.keys(texts.kinds) as AccessKind[]).filter(
    (kind) => kind !== 'route' || inherited !== undefined || value === 'route',
  )
  const names = inherited === undefined ? '' : describeValue(inherited) || texts.anyToken
  const labelOf = (kind: AccessKind) => (kind === 'route' ? texts.inherited(path, names) : texts.kinds[kind])
  const sentenceOf = (kind: AccessKind) =>
    kind === 'public' && method !== 'GET' ? texts.publicChange : texts.sentences[kind]
  const isShared = value === 'route' && inherited !== undefined && !isOpen
  const choose = (kind: AccessKind) => {
    setOpen(false)
    onChange(kind)
  }
  return (
    <>
      <Radio.Group label={texts.kind} value={value} onChange={choose} data-at={at}>
        <div className="choice-rows">
          {kinds.map((kind) => (
            <Radio key={kind} value={kind} label={labelOf(kind)} description={sentenceOf(kind)} />
          ))}
        </div>
      </Radio.Group>
      {isShared ? (
        <div className="button-row">
          <Button variant="subtle" onClick={() => setOpen(true)}>
            {texts.changeShared(path)}
          </Button>
        </div>
      ) : isOpen ? (
        <div ref={focusField}>{children}</div>
      ) : (
        children
      )}
    </>
  )
}

/** The button that showed the field is gone. */
function focusField(around: HTMLElement | null): void {
  around?.querySelector('input')?.focus()
}
