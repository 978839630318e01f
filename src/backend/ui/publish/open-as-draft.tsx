import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { call } from '../api/call.ts'
import { announce } from '../components/announce.tsx'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { shortId } from '../components/release-link.tsx'
import { useServerDraft } from '../edit/draft.ts'
import { lastSave, refreshDraft } from '../edit/save-change.ts'
import { openTexts as texts } from './publish-texts.ts'

interface OpenAsDraftProps {
  /** The id of a release. */
  readonly release: string
  /** The number of one of its activations; by default the last one with files. */
  readonly number?: number
  onClose(): void
}

/** Opens the files of an earlier activation as changes in the draft. */
export function OpenAsDraft({ release, number, onClose }: OpenAsDraftProps) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const hasChanges = (useServerDraft()?.entries.length ?? 0) > 0
  const { data, error } = useQuery({
    queryKey: ['release', release],
    queryFn: ({ signal }) => call('GET /release/:id', { params: { id: release } }, signal),
    enabled: number === undefined,
  })
  const chosen = number ?? data?.activations.find((one) => one.has_files)?.number
  return (
    <ConfirmDialog
      title={texts.title(shortId(release))}
      action={texts.action}
      isDisabled={hasChanges || chosen === undefined}
      onConfirm={async () => {
        await call('POST /draft/open', { body: { activation: chosen! } })
        lastSave.clear()
        await refreshDraft(queries)
        announce(texts.done(shortId(release)))
        await navigate({ to: '/publish' })
      }}
      onClose={onClose}
    >
      <div className="stack-small">
        <p>{texts.text}</p>
        {data !== undefined && chosen === undefined ? <p className="warnings">{texts.noFiles}</p> : null}
        {hasChanges ? <p className="warnings">{texts.blocked}</p> : null}
        {error === null ? null : <ProblemAlert error={error} />}
      </div>
    </ConfirmDialog>
  )
}
