import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { referenceQuery } from '../portal/reference/load.ts'
import { places } from '../portal/reference/places.ts'
import { Palette, type PaletteItem } from '../shell/palette.tsx'
import { searchTexts as texts } from './docs-texts.ts'
import { tabsTexts } from '../portal/reference/reference-texts.ts'

/** Ctrl-K: goes to an operation by its method, path, texts or scopes, or to a guide. */
export function OperationSearch({ onClose }: { onClose(): void }) {
  return <Palette opened useItems={useItems} texts={texts} onClose={onClose} />
}

function useItems(): readonly PaletteItem[] {
  const navigate = useNavigate()
  const { data } = useQuery({ ...referenceQuery, enabled: false }) // what the page has loaded
  const guides = (['operations', 'authentication', 'errors'] as const).map((tab) => ({
    key: tab,
    group: texts.pages,
    label: tabsTexts[tab],
    run: () => void navigate({ to: places.list, search: tab === 'operations' ? {} : { tab } }),
  }))
  const operations = (data?.groups ?? []).flatMap((group) =>
    group.operations.map(({ id, method, path, summary, description, scopes }) => ({
      key: id,
      group: tabsTexts.operations,
      label: path,
      method,
      isName: true,
      text: summary,
      words: [method, summary, description, ...scopes].join(' '),
      run: () => void navigate({ to: places.operation, params: { operation: id } }),
    })),
  )
  return [...operations, ...guides]
}
