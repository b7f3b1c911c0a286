//! tinyscope: the domain.
