import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { pageTitles } from '../page-titles.ts'
import { useHasScope } from '../shell/scope-gate.tsx'

/** Opens the rows of a table, for those who may see them. */
export function RowsButton({ connection, name }: { readonly connection: string; readonly name: string }) {
  if (!useHasScope('backend.data')) return null
  return (
    <Button
      variant="default"
      renderRoot={(props) => <Link to="/tables/$name/rows" params={{ name: `${connection}.${name}` }} {...props} />}
    >
      {pageTitles.rows}
    </Button>
  )
}
