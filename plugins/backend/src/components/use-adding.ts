import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'

/** Whether the dialog of a list that adds an entry is open. A link with `?add=1` opens it. */
export function useAdding(): [boolean, (isAdding: boolean) => void] {
  const search: Readonly<Record<string, string | undefined>> = useSearch({ strict: false })
  const navigate = useNavigate()
  const [isAdding, setAdding] = useState(false)
  useEffect(() => {
    if (search['add'] === undefined) return
    setAdding(true)
    void navigate({ to: '.', search: { ...search, add: undefined }, replace: true, resetScroll: false })
  }, [search['add']])
  return [isAdding, setAdding]
}
