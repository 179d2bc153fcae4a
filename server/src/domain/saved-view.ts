/** A search of a screen of the web application, saved under a name for everyone in the organization. */
export type SavedView = {
  id: string;
  unique_organization_id: string;
  /** The screen: the first part of its path, such as `logs`. */
  screen: string;
  /** Unique per screen. */
  name: string;
  /** The query string of the screen's URL, without `?`. */
  search: string;
  created_at: string;
  updated_at: string;
};
