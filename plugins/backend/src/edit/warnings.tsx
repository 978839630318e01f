import { Link, useRouterState } from '@tanstack/react-router'
import { useState } from 'react'
import { endSentence } from '../components/problem.tsx'
import { uiPath } from '../config.ts'
import { describeEntry, nameOfEntry } from '../publish/describe-entry.ts'
import { editing } from '../strings/editing.ts'
import { isOneOf, pageOfPointer } from './describe-save.ts'
import { useDraft, type Diagnostic } from './draft.ts'

const { warnings: texts } = editing

const maxShown = 3

interface WarningsProps {
  readonly title: string
  readonly warnings: readonly Diagnostic[]
  /** Whether all are shown at once. */
  readonly isWhole?: boolean
}

/** Warnings about the definition: what, where and why. */
export function Warnings({ title, warnings, isWhole = false }: WarningsProps) {
  const [isOpen, setOpen] = useState(isWhole)
  const shown = isOpen ? warnings : warnings.slice(0, maxShown)
  if (warnings.length === 0) return null
  return (
    <section className="warnings definition-warnings" aria-label={title}>
      <p className="strong">{title}</p>
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
          <bdi>{nameOfEntry(entry)}</bdi>
        </Link>
      )}{' '}
      <Link to="/files/$file" params={{ file }} className="mono">
        {file}:{line}
      </Link>
    </>
  )
}

/** Other pages than that of its place on which a warning is shown: where its cause may be. */
const causes: Readonly<Record<string, readonly string[]>> = {
  WP_DEFINITION_EVENT_DEFAULT_SCOPE: ['scopes', 'settings'],
  WP_DEFINITION_EVENT_OPEN: ['scopes'],
  WP_DEFINITION_SCOPE_UNDECLARED: ['scopes'],
}

/** Returns the warnings that a page shows: of its entry or its list, or those of all pages on the overview. */
export function chooseWarnings(
  diagnostics: readonly Diagnostic[],
  [section, entry]: readonly string[],
): readonly Diagnostic[] {
  return diagnostics.filter(({ severity, code, at, file, message }) => {
    if (severity !== 'warning') return false
    if (section === undefined) return true
    const own = at === null ? (file.startsWith('migrations/') ? ['tables'] : ['files', file]) : pageOfPointer(at)
    if (isOneOf([own], entry === undefined ? [section] : [section, entry])) return true
    // Messages quote the scope that they are about.
    return causes[code]?.includes(section) === true && (entry === undefined || message.includes(`"${entry}"`))
  })
}

/** The warnings about what the page shows. */
export function PageWarnings() {
  const draft = useDraft()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  if (draft === undefined) return null
  const steps = path.replace(uiPath, '').split('/').filter(Boolean).map(decodeURIComponent)
  const warnings = chooseWarnings(draft.diagnostics, steps)
  return <Warnings key={path} title={texts.title(warnings.length)} warnings={warnings} />
}
