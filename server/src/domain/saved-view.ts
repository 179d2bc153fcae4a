/** A search of a screen of the web application, kept under a name for everybody in the organization. */
export type SavedView = {
  id: string;
  unique_organization_id: string;
  /** Which screen it is of: the first part of its path, such as `logs`. */
  screen: string;
  /** Unique among those of the screen. */
  name: string;
  /** The query string of the screen's URL, without `?`. */
  search: string;
  created_at: string;
  updated_at: string;
};
