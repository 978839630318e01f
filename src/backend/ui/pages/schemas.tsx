import { useQueryClient } from '@tanstack/react-query'
import { lazyPart } from '../components/lazy-part.tsx'
import { definitionQuery, type Definition } from '../api/definition.ts'
import { TablePage } from '../components/table-page.tsx'
import { Source } from '../components/definition-parts.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { listLocally } from '../components/local-list.ts'
import { Type } from '../components/schema-view.tsx'
import { useCanEdit } from '../edit/draft.ts'
import { LastSave } from '../edit/last-save.tsx'
import { pointerOf } from '../edit/values.ts'
import { MarkedName } from '../publish/draft-mark.tsx'
import { buildTexts as build } from '../components/definition-texts.ts'
import { pageTitles } from '../page-titles.ts'
import { schemaTexts, schemasTexts as texts } from './schema-texts.ts'

const NewSchema = lazyPart(() => import('../editors/new-schema.tsx'), 'NewSchema')

type Schema = Definition['schemas'][number]

const lists = {
  textOf: ({ name, source, used_by: users }: Schema) => [name, source, ...users.map((use) => use.name)].join(' '),
  sorts: { name: ({ name }: Schema) => name, used: (schema: Schema) => schema.used_by.length },
}

export function Page() {
  const queries = useQueryClient()
  const canEdit = useCanEdit()
  return (
    <TablePage
      title={pageTitles.schemas}
      text={texts.text}
      add={canEdit ? { label: schemaTexts.new, dialog: NewSchema } : undefined}
      queryKey={['definition', 'schemas']}
      load={async (query) => listLocally((await queries.query(definitionQuery)).schemas, query, lists)}
      columns={[
        {
          name: 'name',
          label: texts.name,
          isSortable: true,
          render: ({ name }) => <MarkedName name={name} at={pointerOf('schema', name)} />,
        },
        { name: 'type', label: texts.type, render: ({ schema }) => <Type schema={schema} /> },
        { name: 'source', label: build.source, isMinor: true, render: ({ source }) => <Source value={source} /> },
        {
          name: 'used',
          label: build.usedBy,
          isSortable: true,
          isRight: true,
          render: ({ used_by: users }) =>
            users.length === 0 ? <span className="soft">{build.unused}</span> : build.number(users.length),
        },
      ]}
      filters={[{ name: 'search', label: build.search }]}
      defaultSort="name"
      rowKey={({ name }) => name}
      rowLink={({ name }) => ({ to: '/schemas/$name', params: { name } })}
      empty={<EmptyState title={texts.empty} text={texts.emptyText} />}
    >
      {canEdit ? <LastSave /> : null}
    </TablePage>
  )
}
