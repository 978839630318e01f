import { useParams } from '@tanstack/react-router'
import { lazyPart } from '../components/lazy-part.tsx'
import { Json } from '../components/copy.tsx'
import { Source, Users } from '../components/definition-parts.tsx'
import { DefinitionPage } from '../components/definition-page.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { useCanEdit, useDraftValue } from '../edit/draft.ts'
import { pointerOf } from '../edit/values.ts'
import { buildTexts as build } from '../components/definition-texts.ts'
import { actionsTexts as texts } from './action-texts.ts'

const ActionEditor = lazyPart(() => import('../editors/action.tsx'), 'ActionEditor')

export function Page() {
  const { name = '' } = useParams({ strict: false })
  return useCanEdit() ? <EditablePage name={name} key={name} /> : <ActionView />
}

/** A named action has an editor; a file is edited elsewhere. */
function EditablePage({ name }: { readonly name: string }) {
  const { data } = useDraftValue(pointerOf('action', name))
  if (data === undefined) return null
  return data.value === undefined ? <ActionView /> : <ActionEditor name={name} />
}

function ActionView() {
  return (
    <DefinitionPage
      notFound={texts.notFound}
      find={({ actions }, name) => actions.find((one) => one.name === name && one.kind !== 'class')}
      render={({ name, class: of, source, config, used_by: users }) => (
        <>
          <PageHeader
            title={
              <span translate="no" className={of === null ? 'mono' : undefined}>
                {name}
              </span>
            }
            text={of === null ? texts.code : undefined}
          />
          <div className="stack-wide">
            {of === null ? null : (
              <dl className="facts">
                <dt>{texts.class}</dt>
                <dd>{of}</dd>
                {source === null ? null : (
                  <>
                    <dt>{build.source}</dt>
                    <dd>
                      <Source value={source} />
                    </dd>
                  </>
                )}
              </dl>
            )}
            <section>
              <h2>{build.usedBy}</h2>
              <Users uses={users} />
            </section>
            {config === null ? null : (
              <section>
                <h2>{texts.config}</h2>
                <Json value={config} label={texts.config} />
              </section>
            )}
          </div>
        </>
      )}
    />
  )
}
