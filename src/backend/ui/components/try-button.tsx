import { Button } from '@mantine/core'
import { Link, useSearch } from '@tanstack/react-router'
import { Play } from 'lucide-react'
import { routeTexts } from '../pages/route-texts.ts'

/** Opens the tab that calls the method of a page, unless it is open. */
export function TryButton() {
  const { tab }: { readonly tab?: string } = useSearch({ strict: false })
  if (tab === 'try') return null
  return (
    <Button
      leftSection={<Play size={14} aria-hidden />}
      renderRoot={(props) => <Link to="." search={{ tab: 'try' }} {...props} />}
    >
      {routeTexts.tabs.try}
    </Button>
  )
}
