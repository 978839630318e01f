import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Problem } from '../api/send.ts'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { shortId } from '../components/release-link.tsx'
import { config, hasDraft } from '../config.ts'
import { draftQuery, useHasDraft, type Draft } from '../edit/draft.ts'
import { LastSave } from '../edit/last-save.tsx'
import { ChangeGroups, Discard } from '../publish/change-groups.tsx'
import { Conflicts } from '../publish/conflicts.tsx'
import { DraftMenu } from '../publish/draft-menu.tsx'
import { PlanPanel } from '../publish/plan-panel.tsx'
import { Progress } from '../publish/progress.tsx'
import { useHasScope } from '../shell/scope-gate.tsx'
import { problemTexts } from '../components/problem-texts.ts'
import { changesTexts } from './change-texts.ts'
import { changesTexts as draftTexts, publishTexts } from '../publish/publish-texts.ts'

const emptyTexts = {
  title: 'Nothing to publish',
  text: 'The draft matches the active release. Changes that you save on the pages of Build appear here.',
  none: 'The draft is empty. Create a table or a route, or import files.',
  last: 'Last publication',
} as const

export function Page() {
  const { id, try: tried }: { readonly id?: string; readonly try?: string } = useSearch({ strict: false })
  const { data: draft, error } = useQuery(draftQuery)
  // The error is gone while the draft is loaded again, which must not close the question.
  const [asked, setAsked] = useState<Error>()
  const shown = error ?? asked
  if (id !== undefined) return <Progress id={id} tried={tried} />
  if (draft === undefined && shown !== undefined)
    return <Unreadable error={shown} isAsking={asked !== undefined} onAsk={(is) => setAsked(is ? shown : undefined)} />
  if (draft === undefined && hasDraft) return <Skeleton height={240} />
  if (draft === undefined || draft === null || draft.mode === 'folder')
    return (
      <EmptyState
        isPage
        title={publishTexts.noDraft}
        text={config.isDevelopment ? publishTexts.noDraftText : publishTexts.readOnlyText}
        link={{
          to: config.isDevelopment ? '/changes' : '/',
          label: config.isDevelopment ? changesTexts.title : problemTexts.home,
        }}
      />
    )
  if (draft.conflicts.length > 0) return <Conflicts draft={draft} />
  return <Compose draft={draft} />
}

interface UnreadableProps {
  readonly error: Error
  readonly isAsking: boolean
  onAsk(isAsking: boolean): void
}

/** Shows why the draft cannot be loaded. A damaged one can be discarded. */
function Unreadable({ error, isAsking, onAsk }: UnreadableProps) {
  const mayDiscard =
    useHasScope('backend.write') && error instanceof Problem && error.code === 'WP_BACKEND_DRAFT_DAMAGED'
  return (
    <>
      <PageHeader title={publishTexts.page}>
        {mayDiscard ? (
          <Button variant="default" onClick={() => onAsk(true)}>
            {draftTexts.discardAll}
          </Button>
        ) : null}
      </PageHeader>
      <ProblemAlert error={error} />
      {isAsking ? <Discard entries={[]} asked="all" onClose={() => onAsk(false)} /> : null}
    </>
  )
}

/** Chooses changes, shows what publishing them does, and publishes them. */
function Compose({ draft }: { readonly draft: Draft }) {
  const canEdit = useHasDraft()
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const chosen = draft.entries.filter(({ name }) => !left.has(name))
  const { name: base } = draft.base
  const header = (
    <PageHeader
      title={publishTexts.page}
      text={base === '' ? publishTexts.textEmpty : publishTexts.text(shortId(base))}
    >
      <DraftMenu draft={draft} />
    </PageHeader>
  )
  if (draft.entries.length === 0)
    return (
      <>
        {header}
        <EmptyState
          title={emptyTexts.title}
          text={base === '' ? emptyTexts.none : emptyTexts.text}
          action={
            draft.publish === null ? undefined : (
              <Link to="/publish" search={{ id: draft.publish }}>
                {emptyTexts.last}
              </Link>
            )
          }
        />
        <LastSave />
      </>
    )
  return (
    <>
      {header}
      <div className="publish">
        <div className="stack">
          <ChangeGroups draft={draft} left={left} onChange={setLeft} canEdit={canEdit} />
          <LastSave />
        </div>
        <PlanPanel draft={draft} chosen={chosen} isAll={chosen.length === draft.entries.length} />
      </div>
    </>
  )
}
