import { useQueryClient } from '@tanstack/react-query'
import { definitionQuery, type Definition } from '../api/definition.ts'
import type { Column } from '../components/data-table.tsx'
import { NoRelease, Source } from '../components/definition-parts.tsx'
import { buildTexts as build } from '../components/definition-texts.ts'
import { EmptyState } from '../components/empty-state.tsx'
import { listLocally } from '../components/local-list.ts'
import { TablePage } from '../components/table-page.tsx'
import { LastSave } from '../edit/last-save.tsx'
import { useCanEdit } from '../edit/draft.ts'
import { pointerOf } from '../edit/values.ts'
import { pageTitles } from '../page-titles.ts'
import { MarkedName } from '../publish/draft-mark.tsx'

type Folder = Definition['static'][number]

const texts = {
  text: 'Folders of the project whose files anyone may read. A route takes precedence over a file.',
  path: 'Path',
  folder: 'Folder',
  files: 'Files',
  age: 'Kept for',
  agesText: 'How long callers may use a file without revalidating it',
  asked: 'Revalidated each time',
  fallback: 'For other paths',
  none: 'No static files',
  noneText: 'Name a folder of the project under "static:" in waypost.yml.',
} as const

const columns: readonly Column<Folder>[] = [
  {
    name: 'path',
    label: texts.path,
    isSortable: true,
    render: ({ path }) => <MarkedName name={path} at={pointerOf('static', path)} />,
  },
  { name: 'folder', label: texts.folder, render: ({ folder }) => <Name text={folder} /> },
  {
    name: 'files',
    label: texts.files,
    isSortable: true,
    isRight: true,
    render: ({ files }) => build.number(files),
  },
  {
    name: 'age',
    label: texts.age,
    isMinor: true,
    render: ({ max_age_ms: age }) => (
      <span className={age === null ? 'soft' : undefined} title={texts.agesText}>
        {age === null ? texts.asked : build.duration(age)}
      </span>
    ),
  },
  {
    name: 'fallback',
    label: texts.fallback,
    isMinor: true,
    render: ({ fallback }) => (fallback === null ? null : <Name text={fallback} />),
  },
  { name: 'source', label: build.source, isMinor: true, render: ({ source }) => <Source value={source} /> },
]

const lists = {
  textOf: ({ path, folder, fallback }: Folder) => [path, folder, fallback].join(' '),
  filters: {},
  sorts: { path: ({ path }: Folder) => path, files: ({ files }: Folder) => files },
}

export function Page() {
  const queries = useQueryClient()
  const canEdit = useCanEdit()
  const hasRelease = queries.getQueryData(definitionQuery.queryKey)?.routes.length !== 0
  return (
    <TablePage
      title={pageTitles.static}
      text={texts.text}
      queryKey={['definition', 'static']}
      load={async (query) => listLocally((await queries.query(definitionQuery)).static, query, lists)}
      columns={columns}
      defaultSort="path"
      filters={[{ name: 'search', label: build.search }]}
      rowKey={({ path }) => path}
      empty={hasRelease ? <EmptyState title={texts.none} text={texts.noneText} /> : <NoRelease />}
    >
      {canEdit ? <LastSave /> : null}
    </TablePage>
  )
}

function Name({ text }: { readonly text: string }) {
  return (
    <code translate="no" dir="auto">
      {text}
    </code>
  )
}
