import { useRouterState } from '@tanstack/react-router'
import { Suspense } from 'react'
import { lazyPart } from '../components/lazy-part.tsx'
import { uiPath } from '../config.ts'
import { isOneOf, pageOfPointer } from './describe-save.ts'
import { useDraft, type Diagnostic } from './draft.ts'
import { filesTexts, warningsTexts } from './edit-texts.ts'

/** Loaded only if there are warnings, because every page shows its own. */
const Warnings = lazyPart(() => import('./warnings.tsx'), 'Warnings')

/** Other pages than that of its place on which a warning is shown: where its cause may be. */
const causes: Readonly<Record<string, readonly string[]>> = {
  WP_DEFINITION_EVENT_DEFAULT_SCOPE: ['scopes', 'settings'],
  WP_DEFINITION_EVENT_OPEN: ['scopes'],
  WP_DEFINITION_SCOPE_UNDECLARED: ['scopes'],
}

/** Returns the warnings, or the errors, that a page shows: of its entry or its list, or those of all pages on the overview. */
export function chooseWarnings(
  diagnostics: readonly Diagnostic[],
  [section, entry]: readonly string[],
  wanted: Diagnostic['severity'] = 'warning',
): readonly Diagnostic[] {
  return diagnostics.filter(({ severity, code, at, file, message }) => {
    if (severity !== wanted) return false
    if (section === undefined) return true
    const own = at === null ? (file.startsWith('migrations/') ? ['tables'] : ['files', file]) : pageOfPointer(at)
    if (isOneOf([own], entry === undefined ? [section] : [section, entry])) return true
    // Messages quote the scope that they are about.
    return causes[code]?.includes(section) === true && (entry === undefined || message.includes(`"${entry}"`))
  })
}

/** The warnings about what the page shows, and its errors on a server: in `dev`, the banner names them. */
export function PageWarnings() {
  const draft = useDraft()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  if (draft === undefined) return null
  const steps = path.replace(uiPath, '').split('/').filter(Boolean).map(decodeURIComponent)
  const warnings = chooseWarnings(draft.diagnostics, steps)
  const errors = draft.mode === 'server' ? chooseWarnings(draft.diagnostics, steps, 'error') : []
  if (warnings.length + errors.length === 0) return null
  return (
    <Suspense>
      <Warnings key={`errors ${path}`} title={filesTexts.errors(errors.length)} warnings={errors} isError />
      <Warnings key={path} title={warningsTexts.title(warnings.length)} warnings={warnings} />
    </Suspense>
  )
}
