import type { Diagnostic } from '../../kit/index.ts'
import type { AccessWarning } from '../../release/index.ts'
import { subtractKnown } from '../draft/save-changes.ts'

/** Warnings about who can read or change data, which a person must have read before they go live. */
const codes: ReadonlySet<string> = new Set([
  'WP_DEFINITION_EVENT_DEFAULT_SCOPE',
  'WP_DEFINITION_EVENT_OPEN',
  'WP_DEFINITION_PUBLIC_CHANGE',
  'WP_DEFINITION_PUBLIC_SCOPES',
  'WP_DEFINITION_SCOPE_UNDECLARED',
])

export interface NewAccessWarnings {
  /** For the facts of the release. */
  readonly facts: readonly AccessWarning[]
  /** With their places in the files. */
  readonly diagnostics: readonly Diagnostic[]
}

interface AccessSources {
  /** Those that the manifests of the release and of the active one show. */
  readonly planned: readonly AccessWarning[]
  /** All diagnostics of the definition. */
  readonly found: readonly Diagnostic[]
  /** Returns the diagnostics of the active release; called only if there are warnings about access. */
  loadActive(): Promise<readonly Diagnostic[]>
}

/** Returns the warnings about access that the active release does not have: files show more of them than manifests. */
export async function findAccessWarnings({ planned, found, loadActive }: AccessSources): Promise<NewAccessWarnings> {
  const own = found.filter(({ code, severity }) => severity === 'warning' && codes.has(code))
  const added = own.length === 0 ? own : subtractKnown(own, await loadActive())
  const isTold = (one: AccessWarning) => added.some((diagnostic) => isAbout(diagnostic, one))
  const others = added.filter((diagnostic) => !planned.some((one) => isAbout(diagnostic, one)))
  return {
    facts: [...planned, ...others.map(describe)],
    diagnostics: [...added, ...planned.filter((one) => !isTold(one)).map((one) => locate(one, own))],
  }
}

function isAbout({ code, message }: Diagnostic, warning: AccessWarning): boolean {
  const isNamed =
    warning.kind === 'event' ? message.includes(`"${warning.name}"`) : message.startsWith(`${warning.name} `)
  return code === warning.code && isNamed
}

function describe({ code, file, range, message }: Diagnostic): AccessWarning {
  return { code, kind: 'definition', name: `${file}:${range.start.line}`, text: message }
}

const firstColumn = { start: { line: 1, column: 1 }, end: { line: 1, column: 1 } }

/** The manifest can show something new where the files show nothing: of classes, and of releases without files. */
function locate(one: AccessWarning, own: readonly Diagnostic[]): Diagnostic {
  const message = `${one.kind} ${one.name}: ${one.text}`
  return (
    own.find((diagnostic) => isAbout(diagnostic, one)) ?? {
      code: one.code,
      severity: 'warning',
      message,
      file: 'waypost.yml',
      range: firstColumn,
    }
  )
}
