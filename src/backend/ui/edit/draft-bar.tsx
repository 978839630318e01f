import { endSentence } from '../components/problem.tsx'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useRouterState } from '@tanstack/react-router'
import { CloudUpload, FileDiff } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { Problem } from '../api/send.ts'
import { pages } from '../pages.ts'
import { draftQuery, useDraft, useHasDraft } from './draft.ts'
import { refreshDraft } from './save-change.ts'
import { modeTexts } from '../components/mode-texts.ts'
import { filesTexts } from './edit-texts.ts'
import { publishTexts as publish } from '../publish/publish-texts.ts'

/** The number of changed files, in the top bar. Loads what the pages show again after a change of the files. */
export function ChangedFiles() {
  const draft = useDraft()
  const queries = useQueryClient()
  const seen = useRef<string>(undefined)
  const state = draft && `${draft.revision} ${draft.base.name} ${draft.is_served} ${draft.served_at}`
  useEffect(() => {
    if (seen.current !== undefined && state !== undefined && seen.current !== state) void refreshDraft(queries)
    seen.current = state
  }, [state, queries])
  if (draft === undefined) return null
  if (draft.mode === 'server') return <ChangesToPublish changes={draft.entries.length} />
  const { length } = draft.changes
  return (
    <Link to="/changes" className="changed-files" aria-label={filesTexts.changed(length)}>
      <FileDiff size={14} aria-hidden />
      <span className="changed-files-label">{filesTexts.changed(length)}</span>
      <span className="changed-files-count" aria-hidden>
        {length}
      </span>
    </Link>
  )
}

function ChangesToPublish({ changes }: { readonly changes: number }) {
  const label = changes === 0 ? publish.noChanges : publish.bar(changes)
  return (
    <Link to="/publish" className="changed-files" data-changes={changes > 0 || undefined} aria-label={label}>
      <CloudUpload size={14} aria-hidden />
      <span className="changed-files-label">{label}</span>
      {changes === 0 ? null : (
        <span className="changed-files-count" aria-hidden>
          {changes}
        </span>
      )}
    </Link>
  )
}

function EditedFolder({ path }: { readonly path: string | null }) {
  return (
    <section className="banner banner-quiet" aria-label={filesTexts.project}>
      {filesTexts.folder}{' '}
      <span translate="no" className="mono">
        {path}
      </span>
      {filesTexts.atOnce}
    </section>
  )
}

/** Which pages are about the files: those of the draft, and all that edit files. */
function usePageKind(): { readonly isBuild: boolean; readonly isEditing: boolean } {
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const isOn = (page: string) => path === page || path.startsWith(`${page}/`)
  const isRows = /^\/tables\/[^/]+\/rows$/.test(path) // changes of rows apply at once
  const isBuild = !isRows && pages.some(({ group, path: own }) => group === 'build' && own !== '/publish' && isOn(own))
  return { isBuild, isEditing: (isBuild && !isOn('/live')) || isOn('/scopes') || isOn('/files') }
}

/** Below the top bar: which files are edited, or why they are not served. */
export function DraftBanner() {
  const { error } = useQuery(draftQuery)
  const draft = useDraft()
  const canEdit = useHasDraft()
  const { isBuild, isEditing } = usePageKind()
  if (draft === undefined && isBuild && error instanceof Problem)
    return (
      <section className="banner banner-bad" aria-label={publish.draft}>
        <p dir="auto">
          {endSentence(error.message)} {error.hint === undefined ? null : endSentence(error.hint)} {publish.shownActive}
        </p>
      </section>
    )
  if (draft === undefined) return null
  const errors = draft.diagnostics.filter(({ severity }) => severity === 'error')
  const [first] = errors
  if (draft.mode === 'server' && !errors.some(({ code }) => code === 'WP_DEFINITION_YAML'))
    return isBuild && canEdit ? (
      <section className="banner banner-quiet" aria-label={publish.draft}>
        {modeTexts.draft}
        {publish.servedLater}
        {errors.length === 0 ? null : ` ${publish.listsActive}`}
      </section>
    ) : null
  if (draft.mode === 'folder' && draft.is_served) return isEditing ? <EditedFolder path={draft.path} /> : null
  return (
    <section className="banner banner-bad" aria-label={filesTexts.project} aria-live="assertive">
      {first === undefined ? (
        <p dir="auto">{draft.problem?.message ?? filesTexts.notServed}</p>
      ) : (
        <p>
          <Link translate="no" to="/files/$file" params={{ file: first.file }} className="mono">
            {first.file}:{first.line}
          </Link>{' '}
          <span dir="auto">{first.message}</span>
          {errors.length > 1 ? ` ${filesTexts.moreErrors(errors.length - 1)}` : null}
        </p>
      )}
      <p>{draft.mode === 'server' ? `${publish.broken} ${publish.shownActive}` : filesTexts.lastGood}</p>
    </section>
  )
}
