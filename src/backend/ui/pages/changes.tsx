import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { State } from '../components/badge.tsx'
import { CodeBlock } from '../components/copy.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { call } from '../api/call.ts'
import { DiffView } from '../edit/diff-view.tsx'
import { useDraft, type FileChange } from '../edit/draft.ts'
import { EditorLink } from '../edit/editor-link.tsx'
import { LastSave } from '../edit/last-save.tsx'
import { DraftMenu } from '../publish/draft-menu.tsx'
import { changesTexts as texts } from './change-texts.ts'

const tones = { added: 'good', changed: 'info', removed: 'bad' } as const
const deployCommand = 'waypost deploy --plan'

export function Page() {
  const draft = useDraft()
  const { data, error, isError, refetch } = useQuery({
    queryKey: ['draft', 'diff'],
    queryFn: ({ signal }) => call('GET /draft/diff', {}, signal),
  })
  return (
    <>
      <PageHeader title={texts.title} text={data === undefined ? undefined : texts.text(data.base)}>
        {draft === undefined ? null : <DraftMenu draft={draft} />}
      </PageHeader>
      <div className="stack-wide">
        {isError ? <ProblemAlert error={error} onRetry={() => void refetch()} /> : null}
        {data === undefined && !isError ? <Skeleton height={160} /> : null}
        {data?.entry.length === 0 ? <EmptyState title={texts.empty} text={texts.emptyText} /> : null}
        {data?.entry.map(({ file, status, before, after, ...counts }) => (
          <section key={file} className="file-diff" aria-labelledby={`diff-${file}`}>
            <div className="file-diff-head">
              <h2 id={`diff-${file}`} className="mono" dir="auto">
                {file}
              </h2>
              <State tone={tones[status]}>{texts.status[status]}</State>
              <Counts {...counts} />
              {status === 'removed' ? null : <EditorLink file={file} />}
            </div>
            <DiffView before={before ?? ''} after={after ?? ''} label={file} />
          </section>
        ))}
        {data === undefined || data.entry.length === 0 ? null : (
          <section>
            <h2>{texts.deploy}</h2>
            <p className="soft">{texts.deployText}</p>
            <CodeBlock code={deployCommand} label={deployCommand} />
          </section>
        )}
        <LastSave />
      </div>
    </>
  )
}

function Counts({ additions, deletions }: Pick<FileChange, 'additions' | 'deletions'>) {
  return (
    <span className="file-diff-counts">
      <ins>+{additions}</ins> <del>−{deletions}</del>
      <span className="hidden">{texts.counts(additions, deletions)}</span>
    </span>
  )
}
