import { useParams } from '@tanstack/react-router'
import { lazyPart } from '../components/lazy-part.tsx'
import { Users, Source } from '../components/definition-parts.tsx'
import { DefinitionPage } from '../components/definition-page.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { SchemaView } from '../components/schema-view.tsx'
import { useCanEdit } from '../edit/draft.ts'
import { buildTexts as build } from '../components/definition-texts.ts'
import { schemasTexts as texts } from './schema-texts.ts'

const SchemaPage = lazyPart(() => import('../editors/schema.tsx'), 'SchemaPage')

export function Page() {
  const { name = '' } = useParams({ strict: false })
  return useCanEdit() ? <SchemaPage name={name} key={name} /> : <SchemaOfRelease />
}

function SchemaOfRelease() {
  return (
    <DefinitionPage
      notFound={texts.notFound}
      find={({ schemas }, name) => schemas.find((one) => one.name === name)}
      render={({ name, source, schema, used_by: users }, { schemas }) => (
        <>
          <PageHeader title={name} text={<Source value={source} />} />
          <div className="two">
            <section>
              <h2>{texts.properties}</h2>
              <SchemaView
                schema={schema}
                named={Object.fromEntries(schemas.map((one) => [one.name, one.schema]))}
                label={name}
                name={name}
              />
            </section>
            <section>
              <h2>{build.usedBy}</h2>
              {users.length === 0 ? <p className="soft">{texts.unused}</p> : <Users uses={users} />}
            </section>
          </div>
        </>
      )}
    />
  )
}
