import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { endSentence } from '../components/problem.tsx'
import { describeEntry, nameOfEntry } from '../publish/describe-entry.ts'
import type { Diagnostic } from './draft.ts'
import { warningsTexts as texts } from './edit-texts.ts'

const maxShown = 3

interface WarningsProps {
  readonly title: string
  readonly warnings: readonly Diagnostic[]
  /** Whether all are shown at once. */
  readonly isWhole?: boolean
  /** Whether these are errors. */
  readonly isError?: boolean
  /** Whether the title is already shown above. */
  readonly isTitled?: boolean
}

/** Warnings about the definition: what, where and why. */
export function Warnings({ title, warnings, isWhole = false, isError = false, isTitled = false }: WarningsProps) {
  const [isOpen, setOpen] = useState(isWhole)
  const shown = isOpen ? warnings : warnings.slice(0, maxShown)
  if (warnings.length === 0) return null
  return (
    <section className="warnings definition-warnings" data-errors={isError || undefined} aria-label={title}>
      {isTitled ? null : <p className="strong">{title}</p>}
      <ul>
        {shown.map((one) => (
          <li key={`${one.file}:${one.line}:${one.column} ${one.message}`}>
            <span dir="auto">{endSentence(one.message)}</span>{' '}
            {one.hint === null ? null : <span dir="auto">{endSentence(one.hint)}</span>}{' '}
            <span className="warning-place">
              <Place warning={one} />
            </span>
          </li>
        ))}
      </ul>
      {shown.length < warnings.length ? (
        <button type="button" className="link" onClick={() => setOpen(true)}>
          {texts.all(warnings.length)}
        </button>
      ) : null}
    </section>
  )
}

/** The page of the entry, and the line of its file. */
function Place({ warning: { at, file, line } }: { readonly warning: Diagnostic }) {
  const entry = { name: at ?? file, at, file, status: 'changed' } as const
  const { link } = describeEntry(entry)
  return (
    <>
      {at === null || link === undefined ? null : (
        <Link {...link}>
          <bdi translate="no">{nameOfEntry(entry)}</bdi>
        </Link>
      )}{' '}
      <Link translate="no" to="/files/$file" params={{ file }} className="mono">
        {file}:{line}
      </Link>
    </>
  )
}
